// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include "mpm/model_info.hpp"

namespace mpm::onnx_graph {

constexpr int kLongestSide = 1 << 14;  ///< px, of the input of a converted net

/// Adds to `info`, the metadata of a converted file, what the file's graph says. Throws mpm::Error when the two
/// contradict each other: readers of the outputs rely on it. Symbolic sides and the number of images may have any
/// value.
void addInfoOfGraph(const onnx::GraphProto& graph, ModelInfo& info);

}  // namespace mpm::onnx_graph
