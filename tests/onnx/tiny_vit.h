// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "onnx/graph_builder.h"

namespace mpm::test {

enum class NormStyle { kOp, kPow };
enum class ActivationStyle { kErf, kRelu };
enum class QkvStyle { kGather, kSeparate, kEinsum, kAttentionOp };
enum class LinearStyle { kMatMul, kConv };
enum class HeadStyle { kFeatures, kLinear, kMask, kClassToken };
enum class PatchStyle {
  kConv,
  kPadded,  ///< the same with a border of zeros, one pixel wide, around the image as it is normalised
  kLinear   ///< a linear layer over the pixels of each patch, channel by channel
};

/// One way to write down a ViT. tests/worlds/graphs has the others.
struct Dialect {
  std::string name{};
  int opset = 17;
  Storage storage = Storage::kFloat;
  NormStyle norm = NormStyle::kOp;
  ActivationStyle activation = ActivationStyle::kErf;
  QkvStyle qkv = QkvStyle::kGather;
  LinearStyle linear = LinearStyle::kMatMul;
  HeadStyle head = HeadStyle::kFeatures;
  int special = 1, blocks = 3, heads = 2;
  int classes = 9;  ///< of a segmentation head or a classifier
  bool qk_norm = false;
  bool parallel = false;  ///< attention and MLP of a block side by side
  bool symbolic = false;  ///< batch and size of the input are not given
  bool bytes = false;     ///< the image is {1, H, W, 3} of bytes
  PatchStyle patches = PatchStyle::kConv;
  bool normalises = false;      ///< the graph subtracts the mean and divides by the deviation itself
  bool resize_in_graph = true;  ///< a segmentation head ends with a Resize
  bool argmax = false;
  bool windowed = false;  ///< attention within columns of patches, as SAM writes its windows; without special tokens
};

/// A tiny random ViT, written as ONNX in a dialect.
class TinyVit {
 public:
  static constexpr int kDim = 24, kHidden = 20, kPatch = 4, kGridH = 3, kGridW = 5;
  static constexpr int kHeight = kPatch * kGridH, kWidth = kPatch * kGridW, kTokens = kGridH * kGridW, kClasses = 9;

  explicit TinyVit(Dialect dialect) : dialect_(std::move(dialect)) {}

  /// The graph, not yet saved, for tests that damage it.
  GraphBuilder graph() const;
  void save(const std::string& path) const { graph().save(path); }

  /// Input {1, 3, kHeight, kWidth}.
  static std::vector<double> image(unsigned seed, int height = kHeight, int width = kWidth);

 private:
  Dialect dialect_;
};

}  // namespace mpm::test
