// SPDX-License-Identifier: Apache-2.0
#include "net/hand_over.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "mpm/error.hpp"
#include "onnx/model/node_proto.h"
#include "onnx/model/plain_weights.h"

namespace mpm::onnx_graph {
namespace {

cv::Mat valuesOf(const onnx::TensorProto& tensor) {
  const std::vector<int> sides(tensor.dims().begin(), tensor.dims().end());
  cv::Mat values(static_cast<int>(sides.size()), sides.data(), CV_32F);
  std::memcpy(values.data, tensor.raw_data().data(), tensor.raw_data().size());
  return values;
}

}  // namespace

void handOver(onnx::GraphProto& graph, WeightRegistry& waiting) {
  std::map<std::string, onnx::TensorProto*> weights;
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) weights[tensor.name()] = &tensor;
  std::map<std::string, int> readers;
  for (const onnx::NodeProto& node : graph.node())
    for (const std::string& name : node.input()) ++readers[name];
  for (const onnx::ValueInfoProto& input : graph.input()) ++readers[input.name()];
  for (const onnx::ValueInfoProto& output : graph.output()) ++readers[output.name()];
  std::map<std::string, int> taken;       // how many of its readers have each tensor
  std::map<std::string, cv::Mat> shared;  // tensors of several readers
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    if (!isOurs(node)) continue;
    for (const onnx::AttributeProto& attribute : node.attribute())
      if (attribute.name() == WeightRegistry::kAttribute)
        throw Error("node '" + node.name() + "' (" + node.op_type() + "): found the attribute '" + attribute.name() +
                    "', which no file has: convert the original model again");
    const auto isWeight = [&](const std::string& name) { return weights.count(name) > 0; };
    const auto canWait = [&](const std::string& name) { return isWeight(name) && isPlain(*weights[name]); };
    const auto first = std::find_if(node.input().begin(), node.input().end(), isWeight);
    if (first == node.input().end() || !std::all_of(first, node.input().end(), canWait)) continue;
    std::vector<cv::Mat> values;
    const int activations = static_cast<int>(first - node.input().begin());
    for (int i = activations; i < node.input_size(); ++i) {
      const std::string& name = node.input(i);
      onnx::TensorProto& tensor = *weights[name];
      if (readers[name] > 1) {
        cv::Mat& mat = shared[name];
        if (mat.empty()) mat = valuesOf(tensor);
        values.push_back(mat);
      } else {
        values.push_back(valuesOf(tensor));
        std::string().swap(*tensor.mutable_raw_data());
      }
      ++taken[name];
    }
    node.mutable_input()->DeleteSubrange(activations, node.input_size() - activations);
    addAttribute(node, {WeightRegistry::kAttribute, std::int64_t{waiting.add(std::move(values))}});
  }
  auto& tensors = *graph.mutable_initializer();
  tensors.erase(std::remove_if(tensors.begin(), tensors.end(),
                               [&](const onnx::TensorProto& tensor) {
                                 const auto found = taken.find(tensor.name());
                                 return found != taken.end() && found->second == readers[tensor.name()];
                               }),
                tensors.end());
}

}  // namespace mpm::onnx_graph
