// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mpm/options.hpp"

namespace mpm::train {

/// A float32 tensor in host memory, row-major.
struct HostTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

/// Tensors by name; the names are those of Segmenter's and timm's own checkpoints.
using TensorMap = std::map<std::string, HostTensor>;

std::int64_t elements(const std::vector<std::int64_t>& shape);

/// Segmenter: a plain ViT and a mask transformer of the same width ("Segmenter", Strudel et al. 2021).
struct NetworkConfig {
  static constexpr int kHeadDim = 64, kMlpRatio = 4, kPatch = 16;
  int dim = 192;
  int blocks = 12;
  int decoder_blocks = 2;
  int classes = 0;
  Size2 input;  ///< px, both sides multiples of the patch

  int heads() const { return dim / kHeadDim; }
  Size2 grid() const { return {input.height / kPatch, input.width / kPatch}; }
  int tokens() const { return grid().height * grid().width; }
};

inline constexpr double kNormEpsilon = 1e-5;

/// One tensor of a network.
struct Parameter {
  enum class Init { kZeros, kOnes, kTruncatedNormal, kNormal, kPositions };
  std::string name;
  std::vector<std::int64_t> shape;
  Init init = Init::kZeros;
  double deviation = 0;
  bool decays = false;  ///< weight decay acts on matrices; not on norms, biases and embeddings
};

/// Every tensor of the network, encoder first.
std::vector<Parameter> parameters(const NetworkConfig& config);

/// Initial weights; the same for the same seed everywhere. Positions start as sines and cosines of row and column, so
/// that a short training need not find out first which tokens are neighbours.
TensorMap initialWeights(const NetworkConfig& config, std::uint64_t seed);

/// Makes the position embedding of `weights` fit another input size, bilinear with half-pixel centres.
void resizePositions(TensorMap& weights, Size2 from_grid, Size2 to_grid);

}  // namespace mpm::train
