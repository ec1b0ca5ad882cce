// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "onnx/model/graph.h"

namespace mpm::onnx_graph {

/// Domain of the nodes that canonicalise() creates:
///   Linear {x, weight {out, in}, bias {out}}, LayerNorm {x, weight {d}, bias {d}} with Node::eps, both over the last
///   axis; RMSNorm, a LayerNorm that does not subtract the mean; L2Normalize {x} over the last axis with Node::eps;
///   Activation {x} with Node::activation.
inline constexpr const char* kCanonical = "canonical";

/// Turns the forms that exporters write into canonical nodes. Shapes and constants must be folded.
void canonicalise(Graph& graph);

}  // namespace mpm::onnx_graph
