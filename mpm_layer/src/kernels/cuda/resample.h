// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/resample.h"

namespace mpm::cuda {

/// Resize and argmax of a grid of scores in one step (kernels/resample.h).
class ResizeArgmax {
 public:
  ResizeArgmax(const Stream& stream, const AxisResampling& rows, const AxisResampling& columns);

  /// scores {batch, rows.inputs * columns.inputs, classes} -> labels {batch, rows.outputs(), columns.outputs()}; ties
  /// to the lowest class. classes <= 256.
  void run(const Stream& stream, const float* scores, int batch, int classes, unsigned char* labels) const;
  /// The same for any number of classes.
  void floatLabels(const Stream& stream, const float* scores, int batch, int classes, float* labels) const;
  /// Without the argmax: logits {batch, classes, rows.outputs(), columns.outputs()}.
  void logits(const Stream& stream, const float* scores, int batch, int classes, float* logits) const;

 private:
  void resize(const Stream& stream, const float* scores, int batch, int classes, float* labels, float* logits) const;

  struct Axis {
    int inputs, outputs, taps;
    Buffer<int> first;
    Buffer<float> weight;
    Axis(const Stream& stream, const AxisResampling& axis);
  };
  Axis rows_, columns_;
  Buffer<int> run_begin_;  // {runs_ + 1} first pixels
  int runs_ = 0;           // runs of pixels; one thread computes one run of a row
  int span_ = 0;           // max grid columns that a block reads
};

}  // namespace mpm::cuda
