// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <google/protobuf/io/coded_stream.h>
#include <onnx/onnx_pb.h>

#include <cstdint>
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

}  // namespace mpm::onnx_graph
