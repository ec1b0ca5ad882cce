// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

namespace mpm::onnx_graph {

/// Marks the ai.mpm nodes of a converted model as running on a device, with the attributes that MpmLayer reads:
///
/// - `device`: its index; `session`: the number of the net, by which its layers find each other.
/// - `device_inputs`, a character per activation: 0 made on the host; 1 made by another marked node; 2 the same as 1,
///   and only this node reads it; 3 the same as 0, and only this node reads it.
/// - `device_outputs`, a character per output: 1 when a marked node reads it.
/// - `host_outputs`, a character per output: 1 when a stock node reads it or it is an output of the net.
///
/// Throws mpm::Error for an op that runs on the CPU only.
void placeOnDevice(onnx::GraphProto& graph, int device, int session);

}  // namespace mpm::onnx_graph
