// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/resample.h"

namespace mpm::cuda {

/// Resize and argmax of a grid of scores in one (kernels/resample.h), with the weights of both axes on the device.
class ResizeArgmax {
 public:
  ResizeArgmax(const Stream& stream, const AxisResampling& rows, const AxisResampling& columns);

  /// scores {batch, rows.inputs * columns.inputs, classes} -> labels {batch, rows.outputs(), columns.outputs()}; ties
  /// to the lowest class. classes <= 256.
  void run(const Stream& stream, const float* scores, int batch, int classes, unsigned char* labels) const;

 private:
  struct Axis {
    int inputs, outputs, taps;
    Buffer<int> first;
    Buffer<float> weight;
    Axis(const Stream& stream, const AxisResampling& axis);
  };
  Axis rows_, columns_;
  Buffer<int> run_begin_;  // {runs_ + 1} first pixels
  int runs_ = 0;           // stretches of pixels of a row that a thread makes
  int span_ = 0;           // grid columns that a block reads at most
};

}  // namespace mpm::cuda
