// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

namespace mpm::onnx_graph {

/// Removes the nodes and the constants that no output of the graph needs.
void dropUnused(onnx::GraphProto& graph);

/// Makes the values `names` the outputs of the graph, in this order, and drops what they do not need. Throws mpm::Error
/// for a name that no node writes and for one that comes twice.
void selectOutputs(onnx::GraphProto& graph, const std::vector<std::string>& names);

}  // namespace mpm::onnx_graph
