// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <optional>

namespace mpm::onnx_graph {

/// What `call` stands for, in operators of ONNX, when it is an operator of ONNX Runtime, which its optimizers write in
/// place of several of ONNX: BiasGelu, SkipLayerNormalization, Attention and others of the domain com.microsoft, and
/// SimplifiedLayerNormalization. A function whose inputs and outputs are those of the call. nullopt: it is none of
/// them, or it asks for more than is understood, such as a mask.
std::optional<onnx::FunctionProto> unfused(const onnx::NodeProto& call);

}  // namespace mpm::onnx_graph
