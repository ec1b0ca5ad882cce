// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/resample.h"

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/cuda/kernel.cuh"
#include "mpm/error.hpp"

namespace mpm::cuda {
namespace {

// Max pixels of a run: neighbouring pixels of a row that read the same cells of the grid. One thread computes them, so
// each score is read once for all of them.
constexpr int kPixels = 8;
constexpr int kRuns = 64;              // per row of a block
constexpr int kRows = 4;               // of a block
constexpr int kClasses = 16;           // at a time
constexpr int kStride = kClasses + 4;  // of a cell in shared memory: eight neighbours are in different banks
constexpr int kThreads = kRuns * kRows;

struct AxisView {
  int inputs, outputs, taps;
  const int* first;
  const float* weight;

  bool operator==(const AxisView&) const = default;
};

// A block computes the labels of up to kRuns runs in kRows rows, kClasses classes at a time. It resamples the grid
// vertically into shared memory {kRows, span, kStride}. Then each thread resamples the pixels of its run and keeps the
// best class of each. kTaps: taps of the columns, or 0 for columns.taps.
template <int kTaps>
__global__ void __launch_bounds__(kThreads)
    labelPixels(const float* scores, AxisView rows, AxisView columns, const int* run_begin, int runs, int span,
                int classes, unsigned char* labels) {
  float* const lines = static_cast<float*>(sharedMemory());
  const int thread = static_cast<int>(threadIdx.x);
  const int first_run = static_cast<int>(blockIdx.x) * kRuns, first_row = static_cast<int>(blockIdx.y) * kRows;
  const int first_column = columns.first[run_begin[first_run]];
  const std::ptrdiff_t row_step = static_cast<std::ptrdiff_t>(columns.inputs) * classes;
  const float* const image = rowOf(scores, blockIdx.z, rows.inputs * row_step);
  const int run = first_run + thread % kRuns, y = first_row + thread / kRuns;
  const bool live = run < runs && y < rows.outputs;
  const int begin = live ? run_begin[run] : 0, count = live ? run_begin[run + 1] - begin : 0;
  const int taps = kTaps > 0 ? kTaps : columns.taps;
  const auto weightOf = [&](int tap, int pixel) {
    return columns.weight[(begin + (pixel < count ? pixel : 0)) * taps + tap];
  };
  float weight[kTaps > 0 ? kTaps : 1][kPixels], best[kPixels];
  int label[kPixels];
#pragma unroll
  for (int i = 0; i < kPixels; ++i) {
    for (int tap = 0; tap < kTaps; ++tap) weight[tap][i] = weightOf(tap, i);
    best[i] = -INFINITY;
    label[i] = 0;
  }
  const float* const line =
      lines + (thread / kRuns * span + (live ? columns.first[begin] - first_column : 0)) * kStride;

  // This thread resamples one class of every fourth column of one row vertically.
  const int own_class = thread % kClasses, own_row = thread / kClasses % kRows, own_column = thread / kClasses / kRows;
  const int own_output = first_row + own_row < rows.outputs ? first_row + own_row : rows.outputs - 1;
  const float* const own_weights = rows.weight + own_output * rows.taps;
  const float* const corner = rowOf(rowOf(image, rows.first[own_output], row_step), first_column, classes) + own_class;

  for (int c0 = 0; c0 < classes; c0 += kClasses) {
    __syncthreads();
    const bool there = c0 + own_class < classes;
    for (int column = own_column; column < span; column += kThreads / kClasses / kRows) {
      float sum = there ? 0.0f : -INFINITY;  // after the last class: never the best
      if (there && first_column + column < columns.inputs) {
        const float* score = rowOf(corner, column, classes) + c0;
        for (int tap = 0; tap < rows.taps; ++tap, score += row_step) sum = fmaf(own_weights[tap], *score, sum);
      }
      lines[(own_row * span + column) * kStride + own_class] = sum;
    }
    __syncthreads();
    if (!live) continue;
#pragma unroll 1
    for (int four = 0; four < kClasses; four += 4) {
      float sum[4][kPixels] = {};
#pragma unroll
      for (int tap = 0; tap < taps; ++tap) {
        const float4 v = *reinterpret_cast<const float4*>(line + tap * kStride + four);
        const float at[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int i = 0; i < kPixels; ++i) {
          const float w = kTaps > 0 ? weight[kTaps > 0 ? tap : 0][i] : weightOf(tap, i);
#pragma unroll
          for (int e = 0; e < 4; ++e) sum[e][i] = fmaf(w, at[e], sum[e][i]);
        }
      }
#pragma unroll
      for (int e = 0; e < 4; ++e) {
#pragma unroll
        for (int i = 0; i < kPixels; ++i) {
          if (sum[e][i] > best[i]) {
            best[i] = sum[e][i];
            label[i] = c0 + four + e;
          }
        }
      }
    }
  }
  unsigned char* const to =
      rowOf(labels, static_cast<std::ptrdiff_t>(blockIdx.z) * rows.outputs + y, columns.outputs) + begin;
#pragma unroll
  for (int i = 0; i < kPixels; ++i)
    if (i < count) to[i] = static_cast<unsigned char>(label[i]);
}

// One thread per pixel. Writes the label, or with `logits` those of all classes.
__global__ void resizeClasses(const float* scores, AxisView rows, AxisView columns, int classes, float* labels,
                              float* logits) {
  const int pixel = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), b = static_cast<int>(blockIdx.y);
  const int pixels = rows.outputs * columns.outputs;
  if (pixel >= pixels) return;
  const int y = pixel / columns.outputs, x = pixel % columns.outputs;
  const float* const image = rowOf(scores, static_cast<std::ptrdiff_t>(b) * rows.inputs * columns.inputs, classes);
  float best = 0;
  int label = -1;
  for (int c = 0; c < classes; ++c) {
    float sum = 0;
    for (int t = 0; t < rows.taps; ++t) {
      float line = 0;
      for (int u = 0; u < columns.taps; ++u) {
        const int cell = (rows.first[y] + t) * columns.inputs + columns.first[x] + u;
        line += columns.weight[x * columns.taps + u] * rowOf(image, cell, classes)[c];
      }
      sum += rows.weight[y * rows.taps + t] * line;
    }
    if (logits != nullptr) rowOf(logits, static_cast<std::ptrdiff_t>(b) * classes + c, pixels)[pixel] = sum;
    if (label < 0 || sum > best) {
      best = sum;
      label = c;
    }
  }
  if (labels != nullptr) rowOf(labels, b, pixels)[pixel] = static_cast<float>(label);
}

// First pixels of the runs, and the end of the last run. Runs of the same cells have about the same length.
std::vector<int> runsOf(const AxisResampling& columns) {
  std::vector<int> begins;
  const int outputs = columns.outputs();
  for (int begin = 0, end = 0; begin < outputs; begin = end) {
    while (end < outputs && columns.first[end] == columns.first[begin]) ++end;
    const int pieces = (end - begin + kPixels - 1) / kPixels;
    for (int piece = 0; piece < pieces; ++piece) begins.push_back(begin + (end - begin) * piece / pieces);
  }
  begins.push_back(outputs);
  return begins;
}

}  // namespace

ResizeArgmax::Axis::Axis(const Stream& stream, const AxisResampling& axis)
    : inputs(axis.inputs),
      outputs(axis.outputs()),
      taps(axis.taps),
      first(uploaded(stream, axis.first)),
      weight(uploaded(stream, axis.weight)) {}

ResizeArgmax::ResizeArgmax(const Stream& stream, const AxisResampling& rows, const AxisResampling& columns)
    : rows_(stream, rows), columns_(stream, columns) {
  const std::vector<int> begins = runsOf(columns);
  runs_ = static_cast<int>(begins.size()) - 1;
  run_begin_ = uploaded(stream, begins);
  const auto first = [&](int run) { return columns.first[begins[run]]; };
  for (int run = 0; run < runs_; run += kRuns)
    span_ = std::max(span_, first(std::min(run + kRuns, runs_) - 1) + columns.taps - first(run));
}

void ResizeArgmax::resize(const Stream& stream, const float* scores, int batch, int classes, float* labels,
                          float* logits) const {
  const auto view = [](const Axis& axis) {
    return AxisView{axis.inputs, axis.outputs, axis.taps, axis.first.data(), axis.weight.data()};
  };
  const Grid grid{piecesOf(rows_.outputs * columns_.outputs, kThreads), static_cast<unsigned>(batch)};
  launch(resizeClasses, grid, kThreads, 0, stream, scores, view(rows_), view(columns_), classes, labels, logits);
}

void ResizeArgmax::floatLabels(const Stream& stream, const float* scores, int batch, int classes, float* labels) const {
  resize(stream, scores, batch, classes, labels, nullptr);
}

void ResizeArgmax::logits(const Stream& stream, const float* scores, int batch, int classes, float* logits) const {
  resize(stream, scores, batch, classes, nullptr, logits);
}

void ResizeArgmax::run(const Stream& stream, const float* scores, int batch, int classes, unsigned char* labels) const {
  if (classes < 1 || classes > 256)
    throw Error("labels of one byte are for 1 to 256 classes, not " + std::to_string(classes));
  const auto view = [](const Axis& axis) {
    return AxisView{axis.inputs, axis.outputs, axis.taps, axis.first.data(), axis.weight.data()};
  };
  const auto kernel = columns_.taps == 2 ? labelPixels<2> : columns_.taps == 3 ? labelPixels<3> : labelPixels<0>;
  const Grid grid{static_cast<unsigned>((runs_ + kRuns - 1) / kRuns),
                  static_cast<unsigned>((rows_.outputs + kRows - 1) / kRows), static_cast<unsigned>(batch)};
  launch(kernel, grid, kThreads, static_cast<std::size_t>(kRows * span_ * kStride) * sizeof(float), stream, scores,
         view(rows_), view(columns_), run_begin_.data(), runs_, span_, classes, labels);
}

}  // namespace mpm::cuda
