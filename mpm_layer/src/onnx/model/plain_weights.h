// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>

#include "onnx/model/late_weights.h"

namespace mpm::onnx_graph {

/// Undoes changes that other tools make to a converted file. Weights of ai.mpm nodes in Constant nodes, external data
/// (in `folder`) or 16-bit floats become float initialisers again, as the converter writes them. External data of other
/// nodes is loaded too. `late` are plain. Throws mpm::Error, naming the tensor.
void makeWeightsPlain(onnx::GraphProto& graph, const std::filesystem::path& folder, const LateWeights& late);

/// Whether `tensor` holds floats as the converter writes them: raw, all of them, with a shape.
bool isPlain(const onnx::TensorProto& tensor);

}  // namespace mpm::onnx_graph
