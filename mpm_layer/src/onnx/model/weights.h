// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <google/protobuf/io/coded_stream.h>
#include <onnx/onnx_pb.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/open_file.h"

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

/// Appends a number in protobuf's form.
void appendVarint(std::string& bytes, std::uint64_t value);

/// Parses a model from the start of late.file; large weights become late ones. False: this is no model, or cut off.
bool parseLate(google::protobuf::io::CodedInputStream& stream, onnx::ModelProto& model, LateWeights& late);

/// Undoes changes that other tools make to a converted file. Weights of ai.mpm nodes in Constant nodes, external data
/// (in `folder`) or 16-bit floats become float initialisers again, as the converter writes them. External data of other
/// nodes is loaded too. `late` are plain. Throws mpm::Error, naming the tensor.
void makeWeightsPlain(onnx::GraphProto& graph, const std::filesystem::path& folder, const LateWeights& late);

/// Whether `tensor` holds floats as the converter writes them: raw, all of them, with a shape.
bool isPlain(const onnx::TensorProto& tensor);

}  // namespace mpm::onnx_graph
