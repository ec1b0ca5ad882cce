// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "kernels/random.h"
#include "kernels/transformer_block.h"

namespace mpm::test {

/// What a block may be, and random weights of that kind.
struct BlockOptions {
  int dim = 48, heads = 3, head_dim = 16, hidden = 100;
  int special = 0, rotary_tables = 0;
  bool qk_norm = false, gated = false, mlp_norm = false, attention_norm = false, rms = false, biases = true;
  bool norm_per_head = false, parallel = false;
  Activation activation = Activation::kGeluErf;
  Precision precision = Precision::kFp32;
};

struct BlockWeights {
  BlockOptions options;
  Matrix qkv, proj, fc1, fc2;
  std::vector<float> qkv_bias, proj_bias, fc1_bias, fc2_bias, norms;

  explicit BlockWeights(const BlockOptions& o, unsigned seed = 1)
      : options(o),
        qkv(weights(3 * o.heads * o.head_dim, o.dim, seed)),
        proj(weights(o.dim, o.heads * o.head_dim, seed + 1)),
        fc1(weights(o.gated ? 2 * o.hidden : o.hidden, o.dim, seed + 2)),
        fc2(weights(o.dim, o.hidden, seed + 3)),
        qkv_bias(normal(qkv.rows, seed + 4, 0.2f)),
        proj_bias(normal(proj.rows, seed + 5, 0.2f)),
        fc1_bias(normal(fc1.rows, seed + 6, 0.2f)),
        fc2_bias(normal(fc2.rows, seed + 7, 0.2f)),
        norms(normal(4 * o.dim + 2 * o.hidden + 6 * o.heads * o.head_dim, seed + 8, 0.3f, 1.0f)) {}

  /// Nobody may read them again.
  void forget() {
    for (Matrix* const matrix : {&qkv, &proj, &fc1, &fc2}) std::fill(matrix->values.begin(), matrix->values.end(), NAN);
    for (std::vector<float>* const values : {&qkv_bias, &proj_bias, &fc1_bias, &fc2_bias, &norms})
      std::fill(values->begin(), values->end(), NAN);
  }

  TransformerBlockSpec spec() const {
    const float* next = norms.data();
    const auto norm = [&](int dim, float eps) {
      const NormWeights weights{next, next + dim, eps, options.rms};
      next += 2 * dim;
      return weights;
    };
    const auto linear = [this](const Matrix& weight, const std::vector<float>& bias) {
      return LinearWeights{weight.view(), options.biases ? bias.data() : nullptr};
    };
    TransformerBlockSpec s;
    s.dim = options.dim;
    s.heads = options.heads;
    s.head_dim = options.head_dim;
    s.scale = 1 / std::sqrt(static_cast<float>(options.head_dim));
    s.norm1 = norm(options.dim, 1e-6f);
    s.norm2 = norm(options.dim, 1e-5f);
    s.special = options.special;
    s.rotary_tables = options.rotary_tables;
    s.qk_norm = options.qk_norm;
    s.norm_per_head = options.norm_per_head;
    s.parallel = options.parallel;
    s.q_norm = norm(s.normWidth(), 1e-6f);
    s.k_norm = norm(s.normWidth(), 1e-4f);
    s.mlp_norm = options.mlp_norm;
    s.mlp_norm_weights = norm(options.hidden, 1e-6f);
    s.attention_norm = options.attention_norm;
    s.attention_norm_weights = norm(options.heads * options.head_dim, 1e-5f);
    s.qkv = linear(qkv, qkv_bias);
    s.proj = linear(proj, proj_bias);
    s.fc1 = linear(fc1, fc1_bias);
    s.fc2 = linear(fc2, fc2_bias);
    s.gated = options.gated;
    s.activation = options.activation;
    s.precision = options.precision;
    return s;
  }

 private:
  static Matrix weights(int out, int in, unsigned seed) {
    return Matrix::normal(out, in, seed, 1 / std::sqrt(static_cast<float>(in)));
  }
};

}  // namespace mpm::test
