// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <functional>
#include <optional>

namespace mpm::onnx_graph {

/// What the graph knows of the inputs of a call, by their numbers.
struct InputFacts {
  std::function<bool(int input)> is_product;   ///< a matrix product makes it; a bias of the call belongs to it
  std::function<bool(int input)> is_integers;  ///< it may be a tensor of integers
};

/// What `call` stands for, in operators of ONNX, when it is an operator of ONNX Runtime, which its optimizers and
/// quantizers write in place of several of ONNX: BiasGelu, SkipLayerNormalization, Attention, MatMulNBits and others of
/// the domain com.microsoft, and SimplifiedLayerNormalization. A function whose inputs and outputs are those of the
/// call. nullopt: it is none of them, or it asks for more than is understood, such as a mask.
std::optional<onnx::FunctionProto> unfused(const onnx::NodeProto& call, const InputFacts& facts);

}  // namespace mpm::onnx_graph
