// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <fstream>
#include <stdexcept>

#include "mpm/convert.hpp"

namespace mpm::test {

inline onnx::ModelProto modelAt(const std::string& path) {
  onnx::ModelProto model;
  std::ifstream file(path, std::ios::binary);
  if (!model.ParseFromIstream(&file)) throw std::runtime_error("no ONNX in " + path);
  return model;
}

inline void saveModel(const onnx::ModelProto& model, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  if (!model.SerializeToOstream(&file) || !file.flush()) throw std::runtime_error("cannot write " + path);
}

/// What the converter makes of the model at `path`.
inline onnx::ModelProto convertedModel(const std::string& path, const ConvertOptions& options = {}) {
  onnx::ModelProto model;
  if (!model.ParseFromString(convertModel(path, options).bytes)) throw std::runtime_error("no ONNX of " + path);
  return model;
}

/// The attribute, constant or node of that name. This and the next two end the test where there is none.
template <class Items>
auto& itemNamed(Items* items, const std::string& name) {
  for (auto& item : *items)
    if (item.name() == name) return item;
  throw std::runtime_error("nothing is named " + name);
}

inline onnx::NodeProto& nodeOf(onnx::ModelProto& model, const std::string& op) {
  for (auto& node : *model.mutable_graph()->mutable_node())
    if (node.op_type() == op) return node;
  throw std::runtime_error("no node " + op);
}

inline std::string& metadataOf(onnx::ModelProto& model, const std::string& key) {
  for (auto& entry : *model.mutable_metadata_props())
    if (entry.key() == key) return *entry.mutable_value();
  throw std::runtime_error("no metadata " + key);
}

}  // namespace mpm::test
