// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

namespace mpm::onnx_graph {

/// Marks the ai.mpm nodes of a converted model as running on a device, with the attributes that MpmLayer reads:
///
/// - `device`: its index; `session`: the number of the net, which its layers find each other by.
/// - `device_inputs`, a character per activation: 0 made on the host, 1 by another such node, 2 by one and for this
///   node alone, 3 on the host and for this node alone.
/// - `device_outputs`, `host_outputs`, a character per output: 1 when such a node reads it there, when something on the
///   host does (a stock node, or it is an output of the net).
void placeOnDevice(onnx::GraphProto& graph, int device, int session);

}  // namespace mpm::onnx_graph
