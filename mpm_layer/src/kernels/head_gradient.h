// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/parallel.h"
#include "kernels/resample.h"
#include "kernels/view.h"

namespace mpm {

/// Sizes of a head that scores each token alone: LayerNorm, linear, GELU (erf), linear. Its weights, or their
/// gradient, are one array: {dim} and {dim} of the norm, {dim, hidden} and {hidden}, {hidden, classes} and {classes}.
struct HeadShape {
  int dim = 0, hidden = 0, classes = 0;

  std::size_t normBias() const { return static_cast<std::size_t>(dim); }
  std::size_t hiddenWeight() const { return normBias() + static_cast<std::size_t>(dim); }
  std::size_t hiddenBias() const { return hiddenWeight() + static_cast<std::size_t>(dim) * hidden; }
  std::size_t scoreWeight() const { return hiddenBias() + static_cast<std::size_t>(hidden); }
  std::size_t scoreBias() const { return scoreWeight() + static_cast<std::size_t>(hidden) * classes; }
  std::size_t size() const { return scoreBias() + static_cast<std::size_t>(classes); }
};

/// Tokens of a picture, {grid height * grid width, dim}, and the class of each cell of a map over them. `units`: the
/// tokens as a LayerNorm without weights leaves them.
struct LabelledRows {
  MatrixView<const float> units;
  const std::uint8_t* cells;  ///< {rows.outputs(), columns.outputs()} of the HeadGradient
};

/// Scores {N, classes} of tokens {N, dim}, as above.
void headScores(const HeadShape& shape, const float* weights, MatrixView<const float> units, MatrixView<float> scores,
                const Parallel& parallel);

/// The loss of a head and its gradient. The scores of a grid are resized to cells; the loss is the cross entropy of
/// each cell with a class, weighted by class: the mean by these weights, as LibTorch's. The same bytes for any number
/// of threads. Keeps its memory between calls; use it from one thread at a time.
class HeadGradient {
 public:
  /// `rows`, `columns`: from the grid to the cells, of at most two taps. A cell with a label of `class_weights.size()`
  /// or more has no class.
  HeadGradient(const HeadShape& shape, AxisResampling rows, AxisResampling columns, std::vector<float> class_weights);

  /// Returns the loss, and writes its gradient {shape.size()}. NaN, and no gradient, where no cell has a class.
  double operator()(const float* weights, std::span<const LabelledRows> pictures, float* gradient,
                    const Parallel& parallel);

 private:
  void loss(const std::uint8_t* cells, std::size_t picture, int y);
  void backward(const float* weights, MatrixView<const float> units, std::size_t picture, int chunk, float scale,
                float* partial);

  HeadShape shape_;
  AxisResampling rows_, columns_;
  std::vector<float> class_weights_;
  int band_, chunks_;  // rows of the grid in a chunk of work; chunks of a picture
  // For all tokens of the batch: hidden activations, slopes, scores. For all rows of cells: the gradient of the scores,
  // blended to that row; the sums of losses and weights.
  std::vector<float> hidden_, slopes_, scores_, row_gradients_, partials_;
  std::vector<double> losses_, totals_;
};

}  // namespace mpm
