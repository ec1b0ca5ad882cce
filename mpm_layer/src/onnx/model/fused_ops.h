// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <functional>
#include <optional>

namespace mpm::onnx_graph {

/// What `call` stands for, in operators of ONNX, when it is an operator of ONNX Runtime, which its optimizers write in
/// place of several of ONNX: BiasGelu, SkipLayerNormalization, Attention and others of the domain com.microsoft, and
/// SimplifiedLayerNormalization. A function whose inputs and outputs are those of the call. nullopt: it is none of
/// them, or it asks for more than is understood, such as a mask. `is_product`: whether a matrix product makes this
/// input, to which a bias of the call belongs then.
std::optional<onnx::FunctionProto> unfused(const onnx::NodeProto& call,
                                           const std::function<bool(int input)>& is_product);

}  // namespace mpm::onnx_graph
