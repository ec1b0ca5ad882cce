// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/parallel.h"
#include "kernels/view.h"

namespace mpm {

/// One axis of a separable resampling, as sparse rows: output o = sum of weight[t] * input[first[o] + t], t < taps.
struct AxisResampling {
  int inputs = 0;
  int taps = 0;
  std::vector<int> first;     ///< {outputs}; first[o] + taps <= inputs
  std::vector<float> weight;  ///< {outputs, taps}
  int outputs() const { return static_cast<int>(first.size()); }
  const float* weightsOf(int output) const { return weight.data() + static_cast<std::ptrdiff_t>(output) * taps; }
};

/// Bilinear, half-pixel centres, edges clamped (align_corners false, as cv::resize and torch do it). `inputs` >= 1.
AxisResampling bilinearAxis(int inputs, int outputs);

/// `first` followed by `second` (second.inputs == first.outputs()) as one resampling: a resize of a resize without
/// the intermediate image.
AxisResampling composeAxes(const AxisResampling& first, const AxisResampling& second);

/// to = sum over taps of weight[t] * from[t * stride], elementwise.
void combineRows(const float* from, std::ptrdiff_t stride, const float* weight, int taps, float* to,
                 std::ptrdiff_t count);

/// Resize and argmax in one: label of each output pixel, ties to the lowest class, without the {classes, H, W} tensor.
/// `scores` {grid_h * grid_w, classes}; T is float (labels of a net) or unsigned char (label images; classes <= 256).
/// `labels` {rows.outputs(), columns.outputs()}, any stride.
template <typename T>
void resizeArgmax(MatrixView<const float> scores, const AxisResampling& rows, const AxisResampling& columns,
                  MatrixView<T> labels, const Parallel& parallel);
extern template void resizeArgmax<float>(MatrixView<const float>, const AxisResampling&, const AxisResampling&,
                                         MatrixView<float>, const Parallel&);
extern template void resizeArgmax<unsigned char>(MatrixView<const float>, const AxisResampling&, const AxisResampling&,
                                                 MatrixView<unsigned char>, const Parallel&);

/// Resizes the scores as resizeArgmax() does, without the argmax: `logits` {classes, H, W}, contiguous.
void resizeLogits(MatrixView<const float> scores, const AxisResampling& rows, const AxisResampling& columns,
                  float* logits, const Parallel& parallel);

}  // namespace mpm
