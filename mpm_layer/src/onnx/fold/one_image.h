// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "onnx/model/graph.h"

namespace mpm::onnx_graph {

/// Makes a graph that was folded for `batch` > 1 images one for a single image: constants that hold the batch (target
/// shapes, repeated rows) lose it. Shapes of tensors are unknown afterwards, until the graph is folded again. Throws
/// mpm::Error naming the first node that does not keep the images apart.
void keepOneImage(Graph& graph, std::int64_t batch);

}  // namespace mpm::onnx_graph
