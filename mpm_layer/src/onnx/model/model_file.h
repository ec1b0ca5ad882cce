// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/open_file.h"
#include "onnx/model/tensor.h"

namespace mpm::onnx_graph {

/// Large weights of a model that are still in its file: raw floats, as many as the shape says. Their tensors in the
/// graph have no values.
struct LateWeights {
  std::shared_ptr<const OpenFile> file;
  std::map<std::string, std::uint64_t> offsets;  ///< of the bytes in the file, by the name of the initialiser

  bool has(const onnx::TensorProto& tensor) const { return !tensor.has_raw_data() && offsets.count(tensor.name()) > 0; }
  /// Reads what is left of them into `graph`.
  void load(onnx::GraphProto& graph);
};

/// Parses the file and checks that it has a graph with nodes and an opset. Throws mpm::Error (without the name of the
/// file) for a file that is missing, empty, cut off or not ONNX.
onnx::ModelProto readModelFile(const std::filesystem::path& path);
/// The same, with the large weights of the graph left in the file.
onnx::ModelProto readModelFile(const std::filesystem::path& path, LateWeights& late);

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

/// Undoes changes that other tools make to a converted file. Weights of ai.mpm nodes in Constant nodes, external data
/// (in `folder`) or 16-bit floats become float initialisers again, as the converter writes them. External data of other
/// nodes is loaded too. `late` are plain. Throws mpm::Error, naming the tensor.
void makeWeightsPlain(onnx::GraphProto& graph, const std::filesystem::path& folder, const LateWeights& late);

/// Whether `tensor` holds floats as the converter writes them: raw, all of them, with a shape.
bool isPlain(const onnx::TensorProto& tensor);

}  // namespace mpm::onnx_graph
