// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/parallel.h"
#include "kernels/resample.h"
#include "kernels/view.h"

namespace mpm {

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
