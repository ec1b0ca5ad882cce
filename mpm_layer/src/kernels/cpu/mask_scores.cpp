// SPDX-License-Identifier: Apache-2.0
#include "kernels/mask_scores.h"

#include <cmath>

#include "kernels/cpu/panels.h"
#include "kernels/elementwise.h"
#include "kernels/scratch.h"

namespace mpm {
namespace {

constexpr int kRows = 64;

// Memory of one task.
thread_local Scratch<float> projected_rows, score_rows;

// Projection and L2 norm of a few rows, in scratch memory of the calling thread.
MatrixView<float> project(MatrixView<const float> x, const PackedLinear& linear) {
  const MatrixView<float> y(projected_rows.atLeast(kRows * static_cast<std::size_t>(linear.out())), x.rows,
                            linear.out());
  linear.run(x, y);
  for (int i = 0; i < y.rows; ++i) {
    float* row = y.row(i);
    double squares = 0;
    for (int k = 0; k < y.cols; ++k) squares += static_cast<double>(row[k]) * row[k];
    const double inverse = squares > 0 ? 1 / std::sqrt(squares) : 0;
    for (int k = 0; k < y.cols; ++k) row[k] = static_cast<float>(static_cast<double>(row[k]) * inverse);
  }
  return y;
}

}  // namespace

void maskScores(MatrixView<const float> tokens, int classes, const PackedLinear& proj_patch,
                const PackedLinear& proj_classes, const float* norm_weight, const float* norm_bias, float eps,
                MatrixView<float> scores, const Parallel& parallel) {
  thread_local Scratch<float> class_panels;
  const int panels = panelsFor(classes);
  const int depth = proj_classes.out();
  const std::size_t panel_size = static_cast<std::size_t>(depth) * kPanel;
  float* const packed = class_panels.atLeast(static_cast<std::size_t>(panels) * panel_size);
  runPieces(parallel, classes, kPanel, [&](int begin, int end) {
    float* panel = packed + static_cast<std::ptrdiff_t>(begin) * depth;
    const MatrixView<float> y = project(tokens.rowRange(begin, end), proj_classes);
    packPanel(y.data, y.stride, y.rows, depth, panel, 0);
    clearPanel(panel, depth, y.rows);
  });
  const MatrixView<const float> patches = tokens.rowRange(classes, tokens.rows);
  runPieces(parallel, patches.rows, kRows, [&](int begin, int end) {
    const MatrixView<float> y = project(patches.rowRange(begin, end), proj_patch);
    const int stride = panels * kPanel;
    const MatrixView<float> products(score_rows.atLeast(kRows * static_cast<std::size_t>(stride)), y.rows, classes,
                                     stride);
    for (int p = 0; p < panels; ++p) {
      panelProduct(y.data, y.stride, y.rows, depth, packed + static_cast<std::size_t>(p) * panel_size,
                   products.data + p * kPanel, stride);
    }
    norm(products, {norm_weight, norm_bias, eps}, scores.rowRange(begin, end));
  });
}

}  // namespace mpm
