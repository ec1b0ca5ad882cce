// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace mpm {

/// A head that scores each token alone: LayerNorm, linear, GELU (erf), linear. Matrices are {in, out}, row-major.
struct TokenHead {
  static constexpr float kNormEps = 1e-5f;  ///< of the LayerNorm
  int dim = 0;                              ///< width of a token
  int hidden = 0;                           ///< width between the two layers
  int classes = 0;                          ///< scores of a token
  std::vector<float> norm_weight;           ///< {dim}
  std::vector<float> norm_bias;             ///< {dim}
  std::vector<float> hidden_weight;         ///< {dim, hidden}
  std::vector<float> hidden_bias;           ///< {hidden}
  std::vector<float> score_weight;          ///< {hidden, classes}
  std::vector<float> score_bias;            ///< {classes}
};

}  // namespace mpm
