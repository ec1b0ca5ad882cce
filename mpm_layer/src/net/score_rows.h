// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "kernels/resample.h"
#include "mpm/read_net.hpp"

namespace mpm {

/// One axis of a resize at the end of a net: each output is the weighted sum of a few inputs.
struct AxisTaps {
  int taps = 0;                ///< 0: there is no resize
  std::vector<int> indices;    ///< {outputs, taps}
  std::vector<float> weights;  ///< {outputs, taps}

  /// As a resampling of an axis with so many `inputs`. Throws mpm::Error for an index beyond it.
  AxisResampling of(int inputs) const;
};

/// Where a net has the scores of its classes as rows, the classes of a pixel side by side, before it lays them out and
/// resizes them for its output: a map {B, H, W, classes}, or tokens {B, N, classes}.
struct ScoreRows {
  std::string name;        ///< of the value in the graph; empty: the net has no such rows
  AxisTaps rows, columns;  ///< what the net makes of the map before its output

  bool exist() const { return !name.empty(); }
};

/// The rows of a net that segments. They do not exist where it has only its output, {B, classes, H, W}. `resized`: rows
/// in front of its own resize do not count.
ScoreRows scoreRowsOf(const onnx::GraphProto& graph, const ModelInfo& info, bool resized);

}  // namespace mpm
