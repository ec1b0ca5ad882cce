// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
inline AxisResampling bilinearAxis(int inputs, int outputs) {
  AxisResampling axis;
  axis.inputs = inputs;
  axis.taps = std::min(inputs, 2);
  const double step = static_cast<double>(inputs) / outputs;
  for (int o = 0; o < outputs; ++o) {
    const double at = std::clamp((o + 0.5) * step - 0.5, 0.0, static_cast<double>(inputs - 1));
    const int first = std::min(static_cast<int>(at), std::max(inputs - 2, 0));
    const auto fraction = static_cast<float>(at - first);
    axis.first.push_back(first);
    axis.weight.push_back(axis.taps == 1 ? 1.0f : 1.0f - fraction);
    if (axis.taps == 2) axis.weight.push_back(fraction);
  }
  return axis;
}

/// One axis of a resize as a net has it: each output is the weighted sum of a few inputs, in any order.
struct AxisTaps {
  int taps = 0;                ///< 0: there is no resize
  std::vector<int> indices;    ///< {outputs, taps}
  std::vector<float> weights;  ///< {outputs, taps}

  /// As a resampling of an axis with so many `inputs`. Throws mpm::Error for an index beyond it.
  AxisResampling of(int inputs) const;
};

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

/// Resizes a map: `pixels` {grid_h * grid_w, channels}, `resized` {H * W, channels}, contiguous.
void resizePixels(MatrixView<const float> pixels, const AxisResampling& rows, const AxisResampling& columns,
                  float* resized, const Parallel& parallel);

/// Resizes the scores as resizeArgmax() does, without the argmax: `logits` {classes, H, W}, contiguous.
void resizeLogits(MatrixView<const float> scores, const AxisResampling& rows, const AxisResampling& columns,
                  float* logits, const Parallel& parallel);

/// For each cell of a grid and each class a linear function of the three values of a pixel.
struct LinearModels {
  LinearModels(int grid_rows, int grid_columns, int number_of_classes);

  int rows, columns, classes;
  int padded;  ///< classes, rounded up to whole vectors; those beyond `classes` never win
  /// {rows, columns, 4, padded}: the factors of the first, second and third value of a pixel, and the constant.
  std::vector<float> data;
};

/// The class of each pixel whose function has the largest value, ties to the lowest class. The functions of a pixel are
/// those of the cells around it, by `rows` and `columns` (of models.rows and models.columns). `image`
/// {rows.outputs(), 3 * columns.outputs()}: its values count as 0..255 / 255. `labels` {rows.outputs(),
/// columns.outputs()} gets label[class].
void labelByLinearModels(const LinearModels& models, const AxisResampling& rows, const AxisResampling& columns,
                         MatrixView<const std::uint8_t> image, const std::vector<std::uint8_t>& label,
                         MatrixView<std::uint8_t> labels, const Parallel& parallel);

}  // namespace mpm
