// SPDX-License-Identifier: Apache-2.0
#include "onnx/model/plain_weights.h"

#include <algorithm>
#include <set>
#include <string>

#include "onnx/model/model_file.h"
#include "onnx/model/node_proto.h"

namespace mpm::onnx_graph {
namespace {

/// The tensor of a Constant node; null for another node, or one of numbers.
onnx::TensorProto* tensorOf(onnx::NodeProto& node) {
  if (node.op_type() != "Constant" || !node.domain().empty() || node.output_size() != 1) return nullptr;
  for (onnx::AttributeProto& attribute : *node.mutable_attribute())
    if (attribute.name() == "value" && attribute.has_t()) return attribute.mutable_t();
  return nullptr;
}

void widen(onnx::TensorProto& tensor) {
  const Tensor read = readTensor(tensor, {}, "weight '" + tensor.name() + "'");
  if (!read.isFloat()) return;
  onnx::TensorProto plain;
  plain.set_name(tensor.name());
  plain.set_data_type(onnx::TensorProto::FLOAT);
  *plain.mutable_dims() = tensor.dims();
  plain.set_raw_data(read.floats->data(), read.floats->size() * sizeof(float));
  tensor.Swap(&plain);
}

}  // namespace

bool isPlain(const onnx::TensorProto& tensor) {
  std::size_t bytes = sizeof(float);
  for (const std::int64_t side : tensor.dims()) {
    if (side < 1 || static_cast<std::size_t>(side) > tensor.raw_data().size()) return false;
    bytes *= static_cast<std::size_t>(side);
    if (bytes > tensor.raw_data().size()) return false;
  }
  return tensor.data_type() == onnx::TensorProto::FLOAT && tensor.dims_size() > 0 && bytes == tensor.raw_data().size();
}

void makeWeightsPlain(onnx::GraphProto& graph, const std::filesystem::path& folder, const LateWeights& late) {
  std::set<std::string> ours;
  for (const onnx::NodeProto& node : graph.node())
    if (isOurs(node)) ours.insert(node.input().begin(), node.input().end());

  auto& nodes = *graph.mutable_node();
  const auto becomesWeight = [&](onnx::NodeProto& node) {
    onnx::TensorProto* const tensor = tensorOf(node);
    if (!tensor || !ours.contains(node.output(0))) return false;
    tensor->set_name(node.output(0));
    graph.add_initializer()->Swap(tensor);
    return true;
  };
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), becomesWeight), nodes.end());

  for (onnx::NodeProto& node : nodes)
    if (onnx::TensorProto* const tensor = tensorOf(node))
      loadExternalData(*tensor, folder, "constant '" + node.output(0) + "'");
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    loadExternalData(tensor, folder, "initialiser '" + tensor.name() + "'");
    if (ours.contains(tensor.name()) && !late.has(tensor) && !isPlain(tensor)) widen(tensor);
  }
}

}  // namespace mpm::onnx_graph
