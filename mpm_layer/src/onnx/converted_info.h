// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include "mpm/model_info.hpp"

namespace mpm::onnx_graph {

/// Throws mpm::Error when `info`, the metadata of a converted file, contradicts the file's graph: readers of the
/// outputs rely on it. Symbolic sides and the number of images may have any value.
void requireInfoOfGraph(const ModelInfo& info, const onnx::GraphProto& graph);

}  // namespace mpm::onnx_graph
