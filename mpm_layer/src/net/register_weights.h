// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include "layers/weight_registry.h"
#include "onnx/model/late_weights.h"

namespace mpm::onnx_graph {

/// Moves the weights of the ai.mpm nodes of a converted graph into the registry, where the layers fetch them. Weights
/// in another form than the converter writes stay in the graph. Throws mpm::Error for a node that already has the
/// attribute of registered weights. Late weights that other nodes read too are loaded into the graph.
void registerWeights(onnx::GraphProto& graph, LateWeights& late, WeightRegistry& waiting);

}  // namespace mpm::onnx_graph
