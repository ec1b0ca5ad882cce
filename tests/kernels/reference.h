// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <numbers>

#include "kernels/convolution.h"
#include "kernels/elementwise.h"
#include "kernels/patch_embed.h"
#include "kernels/random.h"
#include "kernels/resample.h"
#include "kernels/transformer_block.h"
#include "kernels/window_attention.h"

/// The kernels as plain loops in double precision: what every test compares with.
namespace mpm::test {

struct Reference {
  int rows, cols;
  std::vector<double> values;

  Reference(int row_count, int col_count)
      : rows(row_count),
        cols(col_count),
        values(static_cast<std::size_t>(row_count) * static_cast<std::size_t>(col_count)) {}
  explicit Reference(MatrixView<const float> view) : Reference(view.rows, view.cols) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) at(i, j) = static_cast<double>(view.row(i)[j]);
  }
  double& at(int i, int j) { return values[i * cols + j]; }
  double at(int i, int j) const { return values[i * cols + j]; }
  const double* row(int i) const { return values.data() + static_cast<std::ptrdiff_t>(i) * cols; }
  Reference rowRange(int begin, int end) const {
    Reference part(end - begin, cols);
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(begin) * cols, part.values.size(), part.values.begin());
    return part;
  }
  Reference columns(int begin, int end) const {
    Reference part(rows, end - begin);
    for (int i = 0; i < rows; ++i)
      for (int j = begin; j < end; ++j) part.at(i, j - begin) = at(i, j);
    return part;
  }
};

/// The rows of `front`, and behind them those of `rest`.
inline Reference stacked(const Reference& front, const Reference& rest) {
  Reference both(front.rows + rest.rows, front.cols);
  std::copy(rest.values.begin(), rest.values.end(),
            std::copy(front.values.begin(), front.values.end(), both.values.begin()));
  return both;
}

inline Reference linear(const Reference& x, const LinearWeights& weights) {
  Reference y(x.rows, weights.weight.rows);
  for (int i = 0; i < y.rows; ++i) {
    for (int j = 0; j < y.cols; ++j) {
      const double* const row = x.row(i);  // outside of the loop: tests are compiled without optimisation
      const float* const weight = weights.weight.row(j);
      double sum = weights.bias != nullptr ? static_cast<double>(weights.bias[j]) : 0.0;
      for (int k = 0; k < x.cols; ++k) sum += row[k] * static_cast<double>(weight[k]);
      y.at(i, j) = sum;
    }
  }
  return y;
}

inline Reference norm(const Reference& x, const NormWeights& weights) {
  Reference y(x.rows, x.cols);
  for (int i = 0; i < x.rows; ++i) {
    double mean = 0, variance = 0;
    for (int j = 0; j < x.cols && !weights.rms; ++j) mean += x.at(i, j) / x.cols;
    for (int j = 0; j < x.cols; ++j) variance += (x.at(i, j) - mean) * (x.at(i, j) - mean) / x.cols;
    for (int j = 0; j < x.cols; ++j) {
      y.at(i, j) = (x.at(i, j) - mean) / std::sqrt(variance + static_cast<double>(weights.eps)) *
                       static_cast<double>(weights.weight[j]) +
                   static_cast<double>(weights.bias[j]);
    }
  }
  return y;
}

inline constexpr Activation kActivations[] = {Activation::kGeluErf, Activation::kGeluTanh, Activation::kGeluQuick,
                                              Activation::kRelu,    Activation::kSilu,     Activation::kReluSquared,
                                              Activation::kElu,     Activation::kMish,     Activation::kHardSwish};

inline double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::kGeluErf:
      return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
    case Activation::kGeluTanh:
      return x / (1 + std::exp(-2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::kGeluQuick:
      return x / (1 + std::exp(-1.702 * x));
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kReluSquared:
      return x < 0 ? 0 : x * x;
    case Activation::kElu:
      return x > 0 ? x : std::expm1(x);
    case Activation::kMish:
      return x * std::tanh(std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))));
    case Activation::kHardSwish:
      return x * std::clamp(x + 3, 0.0, 6.0) / 6;
  }
  return 0;
}

inline Reference attention(const Reference& q, const Reference& k, const Reference& v, int heads, double scale,
                           const float* key_bias, const PositionBias& position_bias = {},
                           const RelativePositions& relative = {}) {
  Reference out(q.rows, q.cols);
  const int e = q.cols / heads;
  std::vector<double> p(k.rows);
  for (int h = 0; h < heads; ++h) {
    for (int i = 0; i < q.rows; ++i) {
      double max = -std::numeric_limits<double>::infinity(), sum = 0;
      for (int j = 0; j < k.rows; ++j) {
        double dot = 0;
        const double *const a = q.row(i) + h * e, *const b = k.row(j) + h * e;
        for (int c = 0; c < e; ++c) dot += a[c] * b[c];
        p[j] = dot * scale + (key_bias != nullptr ? static_cast<double>(key_bias[j]) : 0.0);
        if (position_bias.entries > 0) {
          const int pair = i * k.rows + j;
          const int entry = position_bias.index != nullptr ? static_cast<int>(position_bias.index[pair]) : pair;
          p[j] += static_cast<double>(position_bias.table[h * position_bias.entries + entry]);
        }
        if (relative.height > 0) {
          const int dy = i / relative.width - j / relative.width, dx = i % relative.width - j % relative.width;
          const float* row = relative.rows + (dy + relative.height - 1) * e;
          const float* column = relative.columns + (dx + relative.width - 1) * e;
          for (int c = 0; c < e; ++c)
            p[j] += q.at(i, h * e + c) * (static_cast<double>(row[c]) + static_cast<double>(column[c]));
        }
        max = std::max(max, p[j]);
      }
      for (double& value : p) sum += value = std::exp(value - max);
      for (int j = 0; j < k.rows; ++j) {
        const double share = p[j] / sum, *const value = v.row(j);
        for (int c = h * e; c < (h + 1) * e; ++c) out.values[i * out.cols + c] += share * value[c];
      }
    }
  }
  return out;
}

/// Rotary positions of all rows but the first `special`; `rotations` {rows - special, 2 * tables * pairs}.
inline Reference rotated(Reference x, int heads, int special, MatrixView<const float> rotations, int tables) {
  const int e = x.cols / heads, half = rotations.cols / 2, pairs = half / tables;
  for (int i = special; i < x.rows; ++i) {
    for (int h = 0; h < heads; ++h) {
      for (int j = 0; j < pairs; ++j) {
        const float* row = rotations.row(i - special) + (tables > 1 ? h * pairs : 0) + j;
        const double c = static_cast<double>(row[0]), s = static_cast<double>(row[half]);
        const double a = x.at(i, h * e + j), b = x.at(i, h * e + pairs + j);
        x.at(i, h * e + j) = c * a - s * b;
        x.at(i, h * e + pairs + j) = s * a + c * b;
      }
    }
  }
  return x;
}

struct Rotations {
  MatrixView<const float> table;  ///< without data: none
  int special = 0, tables = 1;
};

/// Each head of q or k normalised.
inline Reference headNormed(const AttentionSpec& s, const Reference& all, const NormWeights& weights) {
  Reference result(all.rows, all.cols);
  for (int h = 0; h < s.heads; ++h) {
    NormWeights own = weights;
    own.weight += s.norm_per_head ? h * s.head_dim : 0;
    own.bias += s.norm_per_head ? h * s.head_dim : 0;
    const Reference head = norm(all.columns(h * s.head_dim, (h + 1) * s.head_dim), own);
    for (int i = 0; i < all.rows; ++i)
      for (int c = 0; c < s.head_dim; ++c) result.at(i, h * s.head_dim + c) = head.at(i, c);
  }
  return result;
}

/// Attention of rows behind norm1 to each other.
inline Reference attended(const AttentionSpec& s, const Reference& normed, const float* key_bias,
                          const Rotations& rotations = {}, const PositionBias& bias = {},
                          const RelativePositions& relative = {}) {
  const int width = s.heads * s.head_dim;
  const Reference qkv = linear(normed, s.qkv);
  Reference q = qkv.columns(0, width), k = qkv.columns(width, 2 * width);
  if (s.qk_norm) {
    q = headNormed(s, q, s.q_norm);
    k = headNormed(s, k, s.k_norm);
  }
  if (rotations.table.data != nullptr) {
    q = rotated(q, s.heads, rotations.special, rotations.table, rotations.tables);
    k = rotated(k, s.heads, rotations.special, rotations.table, rotations.tables);
  }
  return attention(q, k, qkv.columns(2 * width, 3 * width), s.heads, static_cast<double>(s.scale), key_bias, bias,
                   relative);
}

/// x plus what attention made of it.
inline Reference withAttention(const AttentionSpec& s, const Reference& x, Reference mixed) {
  if (s.attention_norm) mixed = norm(mixed, s.attention_norm_weights);
  Reference y = linear(mixed, s.proj);
  for (std::size_t i = 0; i < y.values.size(); ++i) y.values[i] += x.values[i];
  return y;
}

inline Reference windowAttention(const WindowAttentionSpec& s, const Reference& x) {
  const Reference normed = norm(x, s.norm1);
  Reference result(normed.rows, s.heads * s.head_dim);
  for (int w = 0; w < s.windows.count; ++w) {
    const float* rows = s.windows.rows + w * s.windows.tokens;
    Reference window(s.windows.tokens, normed.cols);
    for (int t = 0; t < window.rows; ++t)
      for (int c = 0; c < window.cols && rows[t] >= 0; ++c) window.at(t, c) = normed.at(static_cast<int>(rows[t]), c);
    const Reference mixed = attended(s, window, nullptr, {}, s.position_bias, s.relative_positions);
    for (int t = 0; t < window.rows; ++t)
      for (int c = 0; c < mixed.cols && rows[t] >= 0; ++c) result.at(static_cast<int>(rows[t]), c) = mixed.at(t, c);
  }
  return withAttention(s, x, result);
}

/// y plus what the MLP makes of x.
inline Reference withMlp(const TransformerBlockSpec& s, Reference y, const Reference& x) {
  Reference hidden = linear(norm(x, s.norm2), s.fc1);
  const int m = s.fc2.weight.cols;
  for (int i = 0; i < hidden.rows; ++i) {
    for (int j = 0; j < m; ++j)
      hidden.at(i, j) = activated(s.activation, hidden.at(i, j)) * (s.gated ? hidden.at(i, j + m) : 1.0);
  }
  hidden = hidden.columns(0, m);
  if (s.mlp_norm) hidden = norm(hidden, s.mlp_norm_weights);
  const Reference mlp = linear(hidden, s.fc2);
  for (std::size_t i = 0; i < y.values.size(); ++i) y.values[i] += mlp.values[i];
  return y;
}

/// The block, or the part of it that the spec has.
inline Reference block(const TransformerBlockSpec& s, const Reference& x, const float* key_bias,
                       MatrixView<const float> rotations = {}) {
  Reference y = x;
  if (s.part != BlockPart::kMlp) {
    y = withAttention(s, x, attended(s, norm(x, s.norm1), key_bias, {rotations, s.special, s.rotary_tables}));
  }
  return s.part == BlockPart::kAttention ? y : withMlp(s, y, s.parallel ? x : y);
}

/// The mean over the heads of the keys of rows behind norm1.
inline Reference meanKeys(const AttentionSpec& s, const Reference& normed) {
  const int width = s.heads * s.head_dim;
  Reference k = linear(normed, s.qkv).columns(width, 2 * width), mean(normed.rows, s.head_dim);
  if (s.qk_norm) k = headNormed(s, k, s.k_norm);
  for (int i = 0; i < k.rows; ++i)
    for (int c = 0; c < width; ++c) mean.at(i, c % s.head_dim) += k.at(i, c) / s.heads;
  return mean;
}

/// Products of patches of the image {channels, height, width} added to what `tokens` hold.
inline Reference patchEmbed(const float* image, const PatchGeometry& g, MatrixView<const float> weight,
                            Reference tokens) {
  for (int i = 0; i < tokens.rows; ++i) {
    for (int o = 0; o < tokens.cols; ++o) {
      for (int k = 0; k < weight.cols; ++k) {
        const int c = k / (g.kernel_h * g.kernel_w);
        const int y = i / g.gridWidth() * g.stride_h + k / g.kernel_w % g.kernel_h;
        const int x = i % g.gridWidth() * g.stride_w + k % g.kernel_w;
        tokens.at(i, o) +=
            static_cast<double>(image[(c * g.height + y) * g.width + x]) * static_cast<double>(weight.row(o)[k]);
      }
    }
  }
  return tokens;
}

inline Reference unitRows(Reference x) {
  for (int i = 0; i < x.rows; ++i) {
    double squares = 0;
    for (int k = 0; k < x.cols; ++k) squares += x.at(i, k) * x.at(i, k);
    for (int k = 0; k < x.cols; ++k) x.at(i, k) = squares > 0 ? x.at(i, k) / std::sqrt(squares) : 0;
  }
  return x;
}

/// Segmenter's scores {patches, classes}.
inline Reference maskScores(const Reference& classes, const Reference& patches, MatrixView<const float> proj_classes,
                            MatrixView<const float> proj_patch, const NormWeights& weights) {
  const Reference c = unitRows(linear(classes, {proj_classes})), p = unitRows(linear(patches, {proj_patch}));
  Reference products(p.rows, c.rows);
  for (int i = 0; i < p.rows; ++i) {
    for (int j = 0; j < c.rows; ++j)
      for (int k = 0; k < p.cols; ++k) products.at(i, j) += p.at(i, k) * c.at(j, k);
  }
  return norm(products, weights);
}

/// ONNX's Conv and ConvTranspose: {x.batch, out_height, out_width, outputs}. Each pixel of x, or of the result where it
/// is transposed, is met by the weights around it. `addends`: each as large as the result.
inline std::vector<double> convolution(const ConvolutionSpec& spec, const MapsView<const float>& x, int out_height,
                                       int out_width, const std::vector<const float*>& addends) {
  std::vector<double> y(static_cast<std::size_t>(x.batch) * out_height * out_width * spec.outputs);
  const int in = spec.channels / spec.groups, out = spec.outputs / spec.groups;
  const bool back = spec.transposed;
  for (int b = 0; b < x.batch; ++b) {
    for (int row = 0; row < (back ? x.height : out_height); ++row) {
      for (int column = 0; column < (back ? x.width : out_width); ++column) {
        for (int ky = 0; ky < spec.kernel[0]; ++ky) {
          for (int kx = 0; kx < spec.kernel[1]; ++kx) {
            const int there = row * spec.strides[0] + ky * spec.dilations[0] - spec.pads[0];
            const int beside = column * spec.strides[1] + kx * spec.dilations[1] - spec.pads[1];
            if (there < 0 || there >= (back ? out_height : x.height)) continue;
            if (beside < 0 || beside >= (back ? out_width : x.width)) continue;
            const float* const from = x.pixel(b, back ? row : there, back ? column : beside);
            const int to = (b * out_height + (back ? there : row)) * out_width + (back ? beside : column);
            double* const sums = y.data() + static_cast<std::ptrdiff_t>(to) * spec.outputs;
            for (int o = 0; o < spec.outputs; ++o) {
              for (int i = 0; i < in; ++i) {
                const float value = from[o / out * in + i];
                sums[o] += static_cast<double>(spec.relu_input && value < 0 ? 0 : value) *
                           static_cast<double>(spec.weight[((o * in + i) * spec.kernel[0] + ky) * spec.kernel[1] + kx]);
              }
            }
          }
        }
      }
    }
  }
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] += static_cast<double>(spec.bias[i % static_cast<std::size_t>(spec.outputs)]);
    for (const float* addend : addends) y[i] += static_cast<double>(addend[i]);
    if (spec.activation) y[i] = activated(*spec.activation, y[i]);
  }
  return y;
}

/// The logit of class `c` at pixel (y, x) of a label map, from the scores {grid, classes}.
inline double logitAt(MatrixView<const float> scores, const AxisResampling& rows, const AxisResampling& columns, int y,
                      int x, int c) {
  double sum = 0;
  for (int t = 0; t < rows.taps; ++t) {
    for (int u = 0; u < columns.taps; ++u) {
      const int row = rows.first[y] + t, column = columns.first[x] + u;
      sum += static_cast<double>(rows.weight[y * rows.taps + t]) *
             static_cast<double>(columns.weight[x * columns.taps + u]) *
             static_cast<double>(scores.row(row * columns.inputs + column)[c]);
    }
  }
  return sum;
}

}  // namespace mpm::test
