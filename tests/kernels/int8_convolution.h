// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/convolution.h"
#include "kernels/int8_rows.h"

namespace mpm::test {

/// Convolutions in int8 as plain loops on the rounded numbers: 1x1 with stride 1, of rounded pixels, or 3x3, of rounded
/// transforms (kernels/cpu/winograd.h). The activation may be a ReLU. The sums of integers are exact; what follows them
/// is in float32.
class Int8Convolution {
 public:
  /// `levels`: the largest number of a weight.
  Int8Convolution(const ConvolutionSpec& spec, int levels) : spec_(spec) {
    const int taps = spec.kernel[0] * spec.kernel[1];
    const auto rows = static_cast<std::size_t>(spec.outputs), columns = static_cast<std::size_t>(spec.channels);
    std::vector<std::vector<float>> transformed(taps == 1 ? 1 : 16, std::vector<float>(rows * columns));
    for (std::size_t i = 0; i < rows * columns; ++i) {
      const float* const w = spec.weight + i * static_cast<std::size_t>(taps);
      if (taps == 1) {
        transformed[0][i] = *w;
        continue;
      }
      std::array<double, 12> half;  // {4, 3}
      for (int k = 0; k < 3; ++k) {
        const std::array<double, 4> axis = spread({double{w[k]}, double{w[3 + k]}, double{w[6 + k]}});
        for (int f = 0; f < 4; ++f) half[3 * f + k] = axis[f];
      }
      for (int f = 0; f < 16; ++f) {
        transformed[f][i] = static_cast<float>(
            spread({half[f / 4 * 3], half[f / 4 * 3 + 1], half[f / 4 * 3 + 2]})[static_cast<std::size_t>(f % 4)]);
      }
    }
    for (const std::vector<float>& values : transformed) {
      weights_.emplace_back(MatrixView<const float>(values.data(), spec.outputs, spec.channels),
                            static_cast<float>(levels));
    }
  }

  std::vector<float> run(const MapsView<const float>& x, int out_height, int out_width,
                         const std::vector<const float*>& addends) const {
    std::vector<float> y(static_cast<std::size_t>(x.batch) * out_height * out_width * spec_.outputs);
    const int side = spec_.kernel[0] == 1 ? 1 : 2;
    for (int b = 0; b < x.batch; ++b) {
      for (int row = 0; row < out_height; row += side) {
        for (int column = 0; column < out_width; column += side) {
          const std::vector<float> block = side == 1 ? pixel(x, b, row, column) : blockAt(x, b, row, column);
          for (int i = 0; i < side * side; ++i) {
            const int r = row + i / side, c = column + i % side;
            if (r >= out_height || c >= out_width) continue;
            const auto first = static_cast<std::size_t>((b * out_height + r) * out_width + c) * spec_.outputs;
            for (int o = 0; o < spec_.outputs; ++o) put(block, i, o, first + o, addends, y);
          }
        }
      }
    }
    return y;
  }

 private:
  static std::array<double, 4> spread(const std::array<double, 3>& w) {
    return {w[0], (w[0] + w[1] + w[2]) / 2, (w[0] - w[1] + w[2]) / 2, w[2]};
  }

  void put(const std::vector<float>& block, int i, int o, std::size_t to, const std::vector<const float*>& addends,
           std::vector<float>& y) const {
    const float value = block[static_cast<std::size_t>(i) * spec_.outputs + o];
    float sum = spec_.bias[o];
    if (spec_.kernel[0] == 1 && addends.empty()) {
      sum = value;
    } else {
      if (spec_.kernel[0] == 1) sum = 0;  // the product brings the bias
      for (const float* addend : addends) sum += addend[to];
      sum += value;
    }
    y[to] = spec_.activation ? std::max(sum, 0.0f) : sum;
  }

  float at(const MapsView<const float>& x, int b, int row, int column, int c) const {
    if (row < 0 || row >= x.height || column < 0 || column >= x.width) return 0;
    const float value = x.pixel(b, row, column)[c];
    return spec_.relu_input ? std::max(value, 0.0f) : value;
  }

  /// start + what a rounded row gives for an output: the sum of integers, with the scales.
  float product(const Int8Rows& x, std::size_t row, std::size_t transform, int o, float start) const {
    const auto out = static_cast<std::size_t>(o);
    int sum = 0;
    for (std::size_t c = 0; c < x.values[row].size(); ++c) sum += x.values[row][c] * weights_[transform].values[out][c];
    return static_cast<float>(sum) * (weights_[transform].scales[out] * x.scales[row]) + start;
  }

  std::vector<float> pixel(const MapsView<const float>& x, int b, int row, int column) const {
    std::vector<float> values, y;
    for (int c = 0; c < spec_.channels; ++c) values.push_back(at(x, b, row - spec_.pads[0], column - spec_.pads[1], c));
    const Int8Rows rounded({values.data(), 1, spec_.channels}, 127);
    for (int o = 0; o < spec_.outputs; ++o) y.push_back(product(rounded, 0, 0, o, spec_.bias[o]));
    return y;
  }

  /// {4, outputs}
  std::vector<float> blockAt(const MapsView<const float>& x, int b, int row, int column) const {
    std::vector<float> transforms(static_cast<std::size_t>(16) * spec_.channels);
    const auto transform = [](const std::array<float, 4>& v) {
      return std::array<float, 4>{v[0] - v[2], v[1] + v[2], v[2] - v[1], v[1] - v[3]};
    };
    for (int c = 0; c < spec_.channels; ++c) {
      std::array<std::array<float, 4>, 4> half;  // of columns, then of rows
      for (int j = 0; j < 4; ++j) {
        std::array<float, 4> seen;
        for (int i = 0; i < 4; ++i) seen[i] = at(x, b, row + i - spec_.pads[0], column + j - spec_.pads[1], c);
        const std::array<float, 4> axis = transform(seen);
        for (int i = 0; i < 4; ++i) half[i][j] = axis[i];
      }
      for (int i = 0; i < 4; ++i) {
        const std::array<float, 4> axis = transform(half[i]);
        for (int j = 0; j < 4; ++j) transforms[static_cast<std::size_t>(4 * i + j) * spec_.channels + c] = axis[j];
      }
    }
    const Int8Rows rounded({transforms.data(), 16, spec_.channels}, 127);
    std::vector<float> y(static_cast<std::size_t>(4) * spec_.outputs);
    for (int o = 0; o < spec_.outputs; ++o) {
      std::array<float, 16> m;
      for (std::size_t f = 0; f < 16; ++f) m[f] = product(rounded, f, f, o, 0);
      std::array<std::array<float, 4>, 2> half;
      for (int j = 0; j < 4; ++j) {
        half[0][j] = m[j] + m[4 + j] + m[8 + j];
        half[1][j] = m[4 + j] - m[8 + j] - m[12 + j];
      }
      for (int i = 0; i < 2; ++i) {
        y[static_cast<std::size_t>(2 * i) * spec_.outputs + o] = half[i][0] + half[i][1] + half[i][2];
        y[static_cast<std::size_t>(2 * i + 1) * spec_.outputs + o] = half[i][1] - half[i][2] - half[i][3];
      }
    }
    return y;
  }

  ConvolutionSpec spec_;
  std::vector<Int8Rows> weights_;  // of each transform, {outputs, channels}
};

}  // namespace mpm::test
