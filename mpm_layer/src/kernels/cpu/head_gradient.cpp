// SPDX-License-Identifier: Apache-2.0
#include "kernels/head_gradient.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/elementwise.h"
#include "kernels/linear.h"
#include "kernels/scratch.h"

namespace mpm {
namespace {

constexpr int kChunk = 256;  // tokens of a task: what it computes stays in the cache

// The linear layer behind the norm, with the weights of the norm inside.
struct Folded {
  Folded(const HeadShape& shape, const float* weights)
      : weight(weights + shape.hiddenWeight(), weights + shape.hiddenBias()),
        bias(weights + shape.hiddenBias(), weights + shape.scoreWeight()) {
    float* w = weight.data();
    for (int i = 0; i < shape.dim; ++i, w += shape.hidden) {
      for (int j = 0; j < shape.hidden; ++j) {
        bias[j] += weights[shape.normBias() + i] * w[j];
        w[j] *= weights[i];
      }
    }
  }
  std::vector<float> weight, bias;
};

// y = x W + b
void linear(MatrixView<const float> x, const float* weight, const float* bias, MatrixView<float> y) {
  for (int i = 0; i < y.rows; ++i) std::copy_n(bias, y.cols, y.row(i));
  multiply({x}, {{weight, x.cols, y.cols}}, y, true);
}

void addRows(MatrixView<const float> x, float* sum) {
  for (int i = 0; i < x.rows; ++i)
    for (int j = 0; j < x.cols; ++j) sum[j] += x.row(i)[j];
}

void addTimes(float factor, const float* x, int count, float* to) {
  for (int i = 0; i < count; ++i) to[i] += factor * x[i];
}

}  // namespace

void headScores(const HeadShape& shape, const float* weights, MatrixView<const float> units, MatrixView<float> scores,
                const Parallel& parallel) {
  const Folded folded(shape, weights);
  runPieces(parallel, units.rows, kChunk, [&](int begin, int end) {
    thread_local Scratch<float> scratch;
    const MatrixView<float> hidden(scratch.atLeast(static_cast<std::size_t>(kChunk) * shape.hidden), end - begin,
                                   shape.hidden);
    linear(units.rowRange(begin, end), folded.weight.data(), folded.bias.data(), hidden);
    activate(Activation::kGeluErf, hidden);
    linear(hidden, weights + shape.scoreWeight(), weights + shape.scoreBias(), scores.rowRange(begin, end));
  });
}

HeadGradient::HeadGradient(const HeadShape& shape, AxisResampling rows, AxisResampling columns,
                           std::vector<float> class_weights)
    : shape_(shape),
      rows_(std::move(rows)),
      columns_(std::move(columns)),
      class_weights_(std::move(class_weights)),
      band_(std::max(1, kChunk / columns_.inputs)),
      chunks_((rows_.inputs + band_ - 1) / band_) {}

double HeadGradient::operator()(const float* weights, std::span<const LabelledRows> pictures, float* gradient,
                                const Parallel& parallel) {
  const std::size_t tokens = pictures.size() * rows_.inputs * columns_.inputs,
                    lines = pictures.size() * rows_.outputs();
  const int tasks = static_cast<int>(pictures.size()) * chunks_;
  hidden_.resize(tokens * shape_.hidden);
  slopes_.resize(tokens * shape_.hidden);
  scores_.resize(tokens * shape_.classes);
  row_gradients_.resize(lines * columns_.inputs * shape_.classes);
  losses_.resize(lines);
  totals_.resize(lines);
  const Folded folded(shape_, weights);
  const auto chunkOf = [&](int task, auto work) {
    const auto picture = static_cast<std::size_t>(task / chunks_);
    const int begin = task % chunks_ * band_ * columns_.inputs,
              end = std::min((task % chunks_ + 1) * band_, rows_.inputs) * columns_.inputs;
    work(picture, begin, end, picture * rows_.inputs * columns_.inputs + begin);
  };
  parallel.run(tasks, [&](int task) {
    chunkOf(task, [&](std::size_t picture, int begin, int end, std::size_t first) {
      const MatrixView<float> hidden(hidden_.data() + first * shape_.hidden, end - begin, shape_.hidden);
      linear(pictures[picture].units.rowRange(begin, end), folded.weight.data(), folded.bias.data(), hidden);
      geluWithSlope(hidden, {slopes_.data() + first * shape_.hidden, end - begin, shape_.hidden});
      linear(hidden, weights + shape_.scoreWeight(), weights + shape_.scoreBias(),
             {scores_.data() + first * shape_.classes, end - begin, shape_.classes});
    });
  });
  parallel.run(static_cast<int>(lines), [&](int line) {
    loss(pictures[line / rows_.outputs()].cells, static_cast<std::size_t>(line / rows_.outputs()),
         line % rows_.outputs());
  });
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < lines; ++i) {
    sum += losses_[i];
    total += totals_[i];
  }
  if (total == 0) return std::numeric_limits<double>::quiet_NaN();

  partials_.assign(static_cast<std::size_t>(tasks) * shape_.size(), 0);
  parallel.run(tasks, [&](int task) {
    backward(weights, pictures[task / chunks_].units, static_cast<std::size_t>(task / chunks_), task % chunks_,
             static_cast<float>(1 / total), partials_.data() + static_cast<std::size_t>(task) * shape_.size());
  });
  std::fill_n(gradient, shape_.size(), 0.0f);
  runPieces(parallel, shape_.size(), 4096, [&](std::size_t begin, std::size_t end) {
    for (int task = 0; task < tasks; ++task)
      addTimes(1, partials_.data() + task * shape_.size() + begin, static_cast<int>(end - begin), gradient + begin);
  });
  // So far the gradient of the linear layer is that for its input before the weights of the norm.
  const float* const by_hidden = gradient + shape_.hiddenBias();
  for (int i = 0; i < shape_.dim; ++i) {
    const std::size_t at = shape_.hiddenWeight() + static_cast<std::size_t>(i) * shape_.hidden;
    float by_weight = 0, by_bias = 0;
    for (int j = 0; j < shape_.hidden; ++j) {
      by_weight += gradient[at + j] * weights[at + j];
      by_bias += by_hidden[j] * weights[at + j];
      gradient[at + j] = gradient[at + j] * weights[i] + weights[shape_.normBias() + i] * by_hidden[j];
    }
    gradient[i] = by_weight;
    gradient[shape_.normBias() + i] = by_bias;
  }
  return sum / total;
}

// Computes for one row of cells: its loss, the weights of its cells, and the gradient of its scores at the grid's
// columns.
void HeadGradient::loss(const std::uint8_t* cells, std::size_t picture, int y) {
  const int classes = shape_.classes, row = columns_.inputs * classes;
  const std::size_t line = picture * rows_.outputs() + y;
  float* const to = row_gradients_.data() + line * row;
  std::fill_n(to, row, 0.0f);
  double sum = 0, total = 0;
  thread_local Scratch<float> scratch;
  float* const blended = scratch.atLeast(row + classes);
  float* const score = blended + row;
  std::fill_n(blended, row, 0.0f);
  for (int t = 0; t < rows_.taps; ++t)
    addTimes(rows_.weightsOf(y)[t], scores_.data() + (picture * rows_.inputs + rows_.first[y] + t) * row, row, blended);
  const std::ptrdiff_t next = columns_.taps > 1 ? classes : 0;
  for (int x = 0; x < columns_.outputs(); ++x) {
    const int label = cells[static_cast<std::ptrdiff_t>(y) * columns_.outputs() + x];
    if (label >= static_cast<int>(class_weights_.size())) continue;
    const float* const weight = columns_.weightsOf(x);
    const float left = weight[0], right = next > 0 ? weight[1] : 0;
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(columns_.first[x]) * classes;
    const float* const from = blended + first;
    for (int c = 0; c < classes; ++c) score[c] = left * from[c] + right * from[next + c];
    const float largest = *std::max_element(score, score + classes), own = score[label] - largest;
    float exponentials = 0;
    for (int c = 0; c < classes; ++c) exponentials += score[c] = std::exp(score[c] - largest);
    const float class_weight = class_weights_[label], scale = class_weight / exponentials;
    sum += static_cast<double>(class_weight * (std::log(exponentials) - own));
    total += static_cast<double>(class_weight);
    for (int c = 0; c < classes; ++c) score[c] *= scale;
    score[label] -= class_weight;
    addTimes(left, score, classes, to + first);
    if (next > 0) addTimes(right, score, classes, to + first + next);
  }
  losses_[line] = sum;
  totals_[line] = total;
}

void HeadGradient::backward(const float* weights, MatrixView<const float> units, std::size_t picture, int chunk,
                            float scale, float* partial) {
  const int classes = shape_.classes, row = columns_.inputs * classes;
  const int top = chunk * band_, bottom = std::min(top + band_, rows_.inputs);
  const int begin = top * columns_.inputs, count = (bottom - top) * columns_.inputs;
  thread_local Scratch<float> scratch;
  float* const memory = scratch.atLeast(static_cast<std::size_t>(count) * (classes + shape_.hidden));
  const MatrixView<float> by_score(memory, count, classes),
      by_hidden(memory + static_cast<std::size_t>(count) * classes, count, shape_.hidden);
  std::fill_n(memory, static_cast<std::size_t>(count) * classes, 0.0f);
  for (int y = 0; y < rows_.outputs(); ++y) {
    for (int t = 0; t < rows_.taps; ++t) {
      if (const int to = rows_.first[y] + t; to >= top && to < bottom) {
        addTimes(scale * rows_.weightsOf(y)[t], row_gradients_.data() + (picture * rows_.outputs() + y) * row, row,
                 by_score.row((to - top) * columns_.inputs));
      }
    }
  }
  const std::size_t first = (picture * rows_.inputs * columns_.inputs + begin) * shape_.hidden;
  const MatrixView<const float> hidden(hidden_.data() + first, count, shape_.hidden);
  const float* const slopes = slopes_.data() + first;
  multiply({hidden, true}, {by_score}, {partial + shape_.scoreWeight(), shape_.hidden, classes});
  addRows(by_score, partial + shape_.scoreBias());
  multiply({by_score}, {{weights + shape_.scoreWeight(), shape_.hidden, classes}, true}, by_hidden);
  for (int i = 0; i < count * shape_.hidden; ++i) by_hidden.data[i] *= slopes[i];
  multiply({units.rowRange(begin, begin + count), true}, {by_hidden},
           {partial + shape_.hiddenWeight(), shape_.dim, shape_.hidden});
  addRows(by_hidden, partial + shape_.hiddenBias());
}

}  // namespace mpm
