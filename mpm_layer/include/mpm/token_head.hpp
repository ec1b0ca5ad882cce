// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace mpm {

/// A head that scores each token alone: LayerNorm, linear, GELU (erf), linear. Matrices are {in, out}, row-major.
struct TokenHead {
  static constexpr float kNormEps = 1e-5f;
  int dim = 0, hidden = 0, classes = 0;
  std::vector<float> norm_weight, norm_bias;      ///< {dim}
  std::vector<float> hidden_weight, hidden_bias;  ///< {dim, hidden}, {hidden}
  std::vector<float> score_weight, score_bias;    ///< {hidden, classes}, {classes}
};

}  // namespace mpm
