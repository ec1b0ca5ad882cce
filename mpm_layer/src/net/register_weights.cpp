// SPDX-License-Identifier: Apache-2.0
#include "net/register_weights.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mpm/error.hpp"
#include "onnx/model/node_proto.h"
#include "onnx/model/plain_weights.h"

namespace mpm::onnx_graph {
void registerWeights(onnx::GraphProto& graph, LateWeights& late, WeightRegistry& waiting) {
  std::map<std::string, onnx::TensorProto*> weights;
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) weights[tensor.name()] = &tensor;
  std::map<std::string, int> readers;
  for (const onnx::NodeProto& node : graph.node())
    for (const std::string& name : node.input()) ++readers[name];
  for (const onnx::ValueInfoProto& input : graph.input()) ++readers[input.name()];
  for (const onnx::ValueInfoProto& output : graph.output()) ++readers[output.name()];
  std::map<std::string, int> taken;                                  // how many of its readers have each tensor
  std::map<std::string, std::shared_ptr<const std::string>> shared;  // tensors of several readers
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    if (!isOurs(node)) continue;
    if (findAttribute(node, WeightRegistry::kAttribute))
      throw Error("node '" + node.name() + "' (" + node.op_type() + "): found the attribute '" +
                  WeightRegistry::kAttribute + "', which no file has: convert the original model again");
    const auto isWeight = [&](const std::string& name) { return weights.count(name) > 0; };
    const auto canWait = [&](const std::string& name) {
      return isWeight(name) && (late.has(*weights[name]) || isPlain(*weights[name]));
    };
    const auto first = std::find_if(node.input().begin(), node.input().end(), isWeight);
    if (first == node.input().end() || !std::all_of(first, node.input().end(), canWait)) continue;
    std::vector<WaitingWeight> values;
    const int activations = static_cast<int>(first - node.input().begin());
    for (int i = activations; i < node.input_size(); ++i) {
      const std::string& name = node.input(i);
      onnx::TensorProto& tensor = *weights[name];
      const std::vector<int> shape(tensor.dims().begin(), tensor.dims().end());
      if (late.has(tensor)) {
        values.push_back({shape, nullptr, late.file, late.offsets.at(name)});
      } else if (readers[name] == 1) {
        values.push_back({shape, std::make_shared<const std::string>(std::move(*tensor.mutable_raw_data())), {}, 0});
      } else {
        std::shared_ptr<const std::string>& bytes = shared[name];
        if (!bytes) bytes = std::make_shared<const std::string>(tensor.raw_data());
        values.push_back({shape, bytes, {}, 0});
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
  late.load(graph);
}

}  // namespace mpm::onnx_graph
