// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "kernels/view.h"

namespace mpm {

// The tables in elementwise.cpp and elementwise.cu have this order.
enum class Activation { kGeluErf, kGeluTanh, kGeluQuick, kRelu, kSilu, kReluSquared, kElu, kMish, kHardSwish };

/// "gelu_erf" and so on (docs/ops.md). Throws mpm::Error for another name.
Activation parseActivation(std::string_view name);

struct NormWeights {
  const float* weight = nullptr;  ///< {dim}
  const float* bias = nullptr;    ///< {dim}
  float eps = 0;
  bool rms = false;  ///< RMSNorm; else LayerNorm
};

/// LayerNorm, y = (x - mean) / sqrt(var + eps) * weight + bias over the columns of each row, or RMSNorm, which does not
/// subtract the mean: y = x / sqrt(mean(x^2) + eps) * weight + bias. Moments in two passes, fp32. x and y {rows, dim};
/// y may be x. On the calling thread.
void norm(MatrixView<const float> x, const NormWeights& weights, MatrixView<float> y);

/// y = activation(x), in place, on the calling thread. |error| <= 3e-7 max(|x|, |y|) against double precision.
void activate(Activation activation, MatrixView<float> x);

/// x = gelu_erf(x) in place, and its derivative at the x before. `slope` as large as x. On the calling thread.
void geluWithSlope(MatrixView<float> x, MatrixView<float> slope);

/// x {rows, 2m} -> first m columns = activation(first m columns) * last m columns, in place (such as SwiGLU).
void activateGated(Activation activation, MatrixView<float> x);

/// Rotary positions: in each of the `heads` equal parts of a row of x, column j < pairs becomes
/// cos * column j - sin * column pairs + j, and column pairs + j becomes sin * column j + cos * column pairs + j.
/// `rotation` {x.rows, 2 * tables * pairs}: the cosines of a row, then its sines. `tables`: 1, or one per head. In
/// place, on the calling thread.
void rotate(MatrixView<float> x, int heads, MatrixView<const float> rotation, int tables);

/// Columns [column, column + x.rows) of y become the rows of x {rows, y.rows}. On the calling thread.
void rowsToColumns(MatrixView<const float> x, MatrixView<float> y, int column);

/// True when none of the `count` values is NaN or infinite.
bool allFinite(const float* values, std::size_t count);

}  // namespace mpm
