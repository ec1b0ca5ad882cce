// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>
#include <vector>

#include "kernels/resample.h"
#include "mpm/read_net.hpp"

namespace mpm {

/// What `node` makes along `axis`; nullopt: it is no resize, or not one of one or two neighbouring taps. A bicubic one
/// composes with the resize to the image to many.
std::optional<AxisTaps> resizeOf(const onnx::GraphProto& graph, const onnx::NodeProto* node, int axis);

/// {.., H, W, classes} -> {.., classes, H, W}
bool laysOutByClass(const onnx::NodeProto& node);

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

/// True when the scores of a net with labels are probabilities, each divided by its sum over the classes or not; false
/// for logits. True for mask queries and for a graph whose last arithmetic is a Softmax, a Sigmoid or an Exp, the last
/// step of exp(LogSoftmax(x)).
bool givesProbabilities(const onnx::GraphProto& graph, const ModelInfo& info);

}  // namespace mpm
