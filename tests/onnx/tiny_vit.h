// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "kernels/reference.h"
#include "onnx/graph_builder.h"

namespace mpm::test {

enum class NormStyle { kOp, kPow };
enum class ActivationStyle { kErf, kRelu };
enum class QkvStyle { kGather, kSeparate, kEinsum, kAttentionOp };
enum class BlockStyle { kSequential, kParallel };
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
  BlockStyle blocks_are = BlockStyle::kSequential;
  LinearStyle linear = LinearStyle::kMatMul;
  HeadStyle head = HeadStyle::kFeatures;
  int special = 1, blocks = 3, heads = 2;
  int classes = 9;  ///< of a segmentation head or a classifier
  bool layer_scale = false, qk_norm = false, gated = false, mlp_norm = false, pre_norm = false;
  bool symbolic = false;  ///< batch and size of the input are not given
  bool bytes = false;     ///< the image is {1, H, W, 3} of bytes
  PatchStyle patches = PatchStyle::kConv;
  bool normalises = false;      ///< the graph subtracts the mean and divides by the deviation itself
  bool resize_in_graph = true;  ///< a segmentation head ends with a Resize
  bool argmax = false;
  bool no_positions = false;  ///< those of all tokens are zeros
  bool windowed = false;  ///< attention within columns of patches, as SAM writes its windows; without special tokens
};

/// A tiny random ViT: written as ONNX in a dialect, and evaluated by double-precision loops.
class TinyVit {
 public:
  static constexpr int kDim = 24, kHidden = 20, kPatch = 4, kGridH = 3, kGridW = 5;
  static constexpr int kHeight = kPatch * kGridH, kWidth = kPatch * kGridW, kTokens = kGridH * kGridW, kClasses = 9;

  explicit TinyVit(Dialect dialect, unsigned seed = 7);

  const Dialect& dialect() const { return dialect_; }
  int heads() const { return dialect_.heads; }
  int headDim() const { return kDim / dialect_.heads; }
  /// The graph, not yet saved, for tests that damage it.
  GraphBuilder graph();
  void save(const std::string& path) { graph().save(path); }

  /// Input {1, 3, kHeight, kWidth}.
  static std::vector<double> image(unsigned seed, int height = kHeight, int width = kWidth);
  /// What the graph's outputs are for that image, in order, with any head but a classifier.
  std::vector<std::vector<double>> evaluate(const std::vector<double>& image) const;
  /// Scores {classes, grid_h, grid_w} of a segmentation head for an image of another size, positions resized. `shared`:
  /// the 2x2 windows of patches, by their number in raster order, that share a token.
  std::vector<double> scores(const std::vector<double>& image, int grid_h, int grid_w,
                             const std::vector<int>& shared = {}) const;
  /// Scores {patches, classes} of a mask transformer for successive images, each with the patches that are computed:
  /// the rows of all others stay as they are in every block (docs/reuse.md). The first image computes all.
  std::vector<std::vector<double>> scoresOfFrames(const std::vector<std::vector<double>>& images,
                                                  const std::vector<std::vector<int>>& changed) const;

 private:
  friend class TinyVitWriter;
  using Values = std::vector<double>;

  const Values& weight(const std::string& name) const { return weights_.at(name); }
  void draw(const std::string& name, std::size_t count, double scale, double offset, unsigned& state);
  /// Weight and bias of a norm, and of a linear layer of `in` to `out` features.
  void drawNorm(const std::string& name, std::size_t width, unsigned& state);
  void drawLinear(const std::string& name, std::size_t in, std::size_t out, double scale, unsigned& state,
                  double of_bias);
  void drawBlock(const std::string& name, unsigned& state);
  const float* floats(const std::string& name) const { return floats_.at(name).data(); }
  LinearWeights linearWeights(const std::string& name, int in) const;
  NormWeights normWeights(const std::string& name, float eps) const;
  Reference linear(const Reference& x, const std::string& name) const;
  Reference block(const Reference& x, const std::string& name) const;
  /// Restored to the full grid.
  std::vector<Reference> streams(const Values& image, int grid_h, int grid_w,
                                 const std::vector<int>& shared = {}) const;
  Reference encode(const Values& image, int grid_h, int grid_w, const std::vector<int>& shared = {}) const;
  /// Input of the mask transformer's first block, patches in front of classes; and what it makes of its last block.
  Reference decoderInput(const Reference& encoded) const;
  Values maskScoresOf(const Reference& decoded) const;

  Dialect dialect_;
  std::map<std::string, Values> weights_;             ///< as the graph has them
  std::map<std::string, std::vector<float>> floats_;  ///< the same, for the reference
};

}  // namespace mpm::test
