// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <set>
#include <string>

#include "onnx/model/tensor.h"

namespace mpm::onnx_graph {

/// The file parsed, and checked so far that a graph with nodes and an opset is there. Throws mpm::Error (without the
/// file's name) for a file that is missing, empty, cut off, or something else than ONNX.
onnx::ModelProto readModelFile(const std::filesystem::path& path);

/// The same for bytes in memory.
onnx::ModelProto parseModel(const std::string& bytes);

/// The bytes of a converted model, which is used up: each of its weights is freed as it is written, so that they are in
/// memory once. Throws mpm::Error for more than one file can hold.
std::string serialised(onnx::ModelProto model);

/// The files of its external data, as the model names them.
std::set<std::string> externalFiles(const onnx::ModelProto& model);

/// Opset of the default domain, 11 or later. Throws mpm::Error for an older or a missing one.
int defaultOpset(const onnx::ModelProto& model);

/// Brings external data of `proto` into it, where it has any; `folder` and `what` as below.
void loadExternalData(onnx::TensorProto& proto, const std::filesystem::path& folder, const std::string& what);

/// The elements of `proto`, checked against its shape. External data is looked up in `folder`, and nowhere else; an
/// empty folder means that there can be none. `what` names the tensor in errors.
Tensor readTensor(const onnx::TensorProto& proto, const std::filesystem::path& folder, const std::string& what);

}  // namespace mpm::onnx_graph
