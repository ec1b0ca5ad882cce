// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/resample.h"

#include <algorithm>
#include <string>

#include "kernels/cuda/platform.cuh"
#include "mpm/error.hpp"

namespace mpm::cuda {
namespace {

constexpr int kPixels = 256;  // of one row, a thread each
constexpr int kClasses = 32;  // at a time

struct AxisView {
  int inputs, outputs, taps;
  const int* first;
  const float* weight;
};

// One block makes up to kPixels labels of a row. For kClasses classes at a time it resamples the grid vertically into
// shared memory {columns, kClasses + 1}, from where each thread resamples its own pixel and keeps the best so far.
__global__ void __launch_bounds__(kPixels)
    labelPixels(const float* scores, AxisView rows, AxisView columns, int classes, unsigned char* labels) {
  float* line = static_cast<float*>(sharedMemory());
  const int begin = static_cast<int>(blockIdx.x) * kPixels, y = static_cast<int>(blockIdx.y);
  const int last = (begin + kPixels < columns.outputs ? begin + kPixels : columns.outputs) - 1;
  const int first_column = columns.first[begin];
  const int span = columns.first[last] + columns.taps - first_column;
  const float* image = scores + static_cast<std::size_t>(blockIdx.z) * static_cast<std::size_t>(rows.inputs) *
                                    static_cast<std::size_t>(columns.inputs) * static_cast<std::size_t>(classes);
  const int x = begin + static_cast<int>(threadIdx.x);
  const bool live = x < columns.outputs;
  const int mine = live ? columns.first[x] - first_column : 0;
  float best = 0;
  int label = 0;
  for (int c0 = 0; c0 < classes; c0 += kClasses) {
    const int count = classes - c0 < kClasses ? classes - c0 : kClasses;
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < span * kClasses; i += kPixels) {
      const int column = i / kClasses, c = i % kClasses;
      if (c >= count) continue;
      float sum = 0;
      for (int tap = 0; tap < rows.taps; ++tap) {
        const std::size_t cell =
            static_cast<std::size_t>(rows.first[y] + tap) * static_cast<std::size_t>(columns.inputs) +
            static_cast<std::size_t>(first_column + column);
        sum = fmaf(rows.weight[y * rows.taps + tap],
                   image[cell * static_cast<std::size_t>(classes) + static_cast<std::size_t>(c0 + c)], sum);
      }
      line[column * (kClasses + 1) + c] = sum;
    }
    __syncthreads();
    for (int c = 0; c < count && live; ++c) {
      float sum = 0;
      for (int tap = 0; tap < columns.taps; ++tap)
        sum = fmaf(columns.weight[x * columns.taps + tap], line[(mine + tap) * (kClasses + 1) + c], sum);
      if (c0 + c == 0 || sum > best) {
        best = sum;
        label = c0 + c;
      }
    }
  }
  if (live)
    labels[(static_cast<std::size_t>(blockIdx.z) * gridDim.y + static_cast<std::size_t>(y)) *
               static_cast<std::size_t>(columns.outputs) +
           static_cast<std::size_t>(x)] = static_cast<unsigned char>(label);
}

}  // namespace

ResizeArgmax::Axis::Axis(const Stream& stream, const AxisResampling& axis)
    : inputs(axis.inputs),
      outputs(axis.outputs()),
      taps(axis.taps),
      first(uploaded(stream, axis.first)),
      weight(uploaded(stream, axis.weight)) {
  stream.wait();
}

ResizeArgmax::ResizeArgmax(const Stream& stream, const AxisResampling& rows, const AxisResampling& columns)
    : rows_(stream, rows), columns_(stream, columns), span_(0) {
  for (int begin = 0; begin < columns.outputs(); begin += kPixels) {
    const int last = std::min(begin + kPixels, columns.outputs()) - 1;
    span_ = std::max(span_, columns.first[static_cast<std::size_t>(last)] + columns.taps -
                                columns.first[static_cast<std::size_t>(begin)]);
  }
}

void ResizeArgmax::run(const Stream& stream, const float* scores, int batch, int classes, unsigned char* labels) const {
  if (classes < 1 || classes > 256) {
    throw Error("labels of one byte are for 1 to 256 classes, not " + std::to_string(classes));
  }
  const auto view = [](const Axis& axis) {
    return AxisView{axis.inputs, axis.outputs, axis.taps, axis.first.data(), axis.weight.data()};
  };
  const Grid grid{static_cast<unsigned>((columns_.outputs + kPixels - 1) / kPixels),
                  static_cast<unsigned>(rows_.outputs), static_cast<unsigned>(batch)};
  launch(labelPixels, grid, kPixels, static_cast<std::size_t>(span_) * (kClasses + 1) * sizeof(float), stream, scores,
         view(rows_), view(columns_), classes, labels);
}

}  // namespace mpm::cuda
