// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <set>
#include <string>

#include "onnx/model/tensor.h"
#include "onnx/model/weights.h"

namespace mpm::onnx_graph {

/// Parses the file and checks that it has a graph with nodes and an opset. Throws mpm::Error (without the name of the
/// file) for a file that is missing, empty, cut off or not ONNX.
onnx::ModelProto readModelFile(const std::filesystem::path& path);
/// The same, with the large weights of the graph left in the file.
onnx::ModelProto readModelFile(const std::filesystem::path& path, LateWeights& late);

/// Parses a model from bytes in memory.
onnx::ModelProto parseModel(const std::string& bytes);

/// The bytes of a converted model. Consumes the model: each weight is freed when it is written, so that weights are in
/// memory once. Throws mpm::Error when the model is too large for one file.
std::string serialised(onnx::ModelProto model);

/// The value of a key in the metadata; null: there is none.
const std::string* metadata(const onnx::ModelProto& model, const std::string& key);

/// The bytes of a model without this key, and this value for it.
std::string withMetadata(std::string bytes, const std::string& key, const std::string& value);

/// The files of its external data, as the model names them.
std::set<std::string> externalFiles(const onnx::ModelProto& model);

/// The folder of the file, in which its external data are; "." for a bare file name.
std::filesystem::path folderOf(const std::filesystem::path& path);

/// Opset of the default domain, 11 or later. Throws mpm::Error for an older or a missing one.
int defaultOpset(const onnx::ModelProto& model);

/// Loads the external data of `proto`, if it has any. `folder` and `what`: see readTensor().
void loadExternalData(onnx::TensorProto& proto, const std::filesystem::path& folder, const std::string& what);

/// The elements of `proto`, checked against its shape. External data is read from `folder` only; an
/// empty folder means that there is none. `what` names the tensor in errors.
Tensor readTensor(const onnx::TensorProto& proto, const std::filesystem::path& folder, const std::string& what);

}  // namespace mpm::onnx_graph
