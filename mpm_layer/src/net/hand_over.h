// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include "layers/weight_registry.h"

namespace mpm::onnx_graph {

/// Takes the weights of the ai.mpm nodes out of a converted graph; they wait for the layers that OpenCV will make of
/// these nodes. What a file holds in another way than the converter writes it stays where it is. Throws mpm::Error for
/// a node that has the attribute of waiting weights already.
void handOver(onnx::GraphProto& graph, WeightRegistry& waiting);

}  // namespace mpm::onnx_graph
