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
  std::string name;        ///< of the value in the graph
  AxisTaps rows, columns;  ///< what the net makes of the map before its output
};

/// Of a net that segments. Empty: it has only its output, {B, classes, H, W}. `resized`: only behind its own resize.
ScoreRows scoreRowsOf(const onnx::GraphProto& graph, const ModelInfo& info, bool resized);

}  // namespace mpm
