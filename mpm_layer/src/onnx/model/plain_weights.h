// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>

namespace mpm::onnx_graph {

/// Undoes what other tools made of a converted file: the weights of its ai.mpm nodes become initialisers of floats
/// again, as the converter writes them (from Constant nodes, external data in `folder`, 16-bit floats), and what its
/// other nodes have in external data comes into the model. Throws mpm::Error, naming the tensor.
void makeWeightsPlain(onnx::GraphProto& graph, const std::filesystem::path& folder);

/// Whether `tensor` holds floats as the converter writes them: raw, all of them, with a shape.
bool isPlain(const onnx::TensorProto& tensor);

}  // namespace mpm::onnx_graph
