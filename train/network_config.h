// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpm/options.hpp"
#include "tensor_map.h"

namespace mpm::train {

/// How the encoder knows where a patch is.
enum class Positions {
  kAbsolute,  ///< a learned embedding is added to every token
  kRotary,    ///< q and k of image tokens are rotated by angles of their row and column
};

/// Segmenter: a plain ViT and a mask transformer of the same width ("Segmenter", Strudel et al. 2021).
struct NetworkConfig {
  int dim = 192;
  int blocks = 12;
  int decoder_blocks = 2;
  int head_dim = 64;
  int mlp_ratio = 4;
  int patch = 16;  ///< px
  Positions positions = Positions::kAbsolute;
  Size2 input;  ///< px, both sides multiples of the patch
  int classes = 0;

  int heads() const { return dim / head_dim; }
  Size2 grid() const { return {input.height / patch, input.width / patch}; }
  int tokens() const { return grid().height * grid().width; }
  /// Throws mpm::Error.
  void validate() const;
};

/// "vit-t16", "vit-s16" or "vit-b16": width 192, 384 or 768. Throws mpm::Error on anything else.
NetworkConfig networkConfig(const std::string& name);

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

/// `weights` made to fit `config`: the position embedding is resized (bilinear, half-pixel centres) from the grid of
/// `from`, what depends on the number of classes is taken from `fallback` where it does not fit. Throws mpm::Error,
/// naming the tensor, when anything else is missing or of another shape.
TensorMap fittedWeights(const TensorMap& weights, const NetworkConfig& from, const NetworkConfig& config,
                        const TensorMap& fallback);

/// Cosines and sines {tokens, head_dim} each, by which kRotary rotates column i of a head against column i +
/// head_dim / 2. The first half of these pairs turns with the row of the patch, the other half with its column; pair j
/// of n by position * 100^(-j / n), as in "Rotary Position Embedding for Vision Transformer" (Heo et al. 2024).
struct RotaryTable {
  std::vector<float> cosines, sines;
};
RotaryTable rotaryTable(const NetworkConfig& config);

/// {1, 1 + from.h * from.w, dim} -> {1, 1 + to.h * to.w, dim}; the row of the class token is copied.
HostTensor resizedPositions(const HostTensor& positions, Size2 from, Size2 to);

}  // namespace mpm::train
