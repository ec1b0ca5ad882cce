// SPDX-License-Identifier: Apache-2.0
#include "net/score_rows.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "mpm/error.hpp"
#include "onnx/model/graph_proto.h"
#include "onnx/model/model_file.h"

namespace mpm {
namespace {

const onnx::NodeProto* producerOf(const onnx::GraphProto& graph, const std::string& value) {
  for (const onnx::NodeProto& node : graph.node())
    if (std::ranges::find(node.output(), value) != node.output().end()) return &node;
  return nullptr;
}

bool isOp(const onnx::NodeProto* node, const std::string& op) { return node != nullptr && node->op_type() == op; }

/// Empty: `name` is no constant whose values are here, {outputs, taps}.
std::vector<float> constantOf(const onnx::GraphProto& graph, const std::string& name, int& taps) {
  const onnx::TensorProto* const tensor = onnx_graph::findNamed(graph.initializer(), name);
  if (tensor == nullptr || !onnx_graph::isPlain(*tensor) || tensor->dims_size() != 2) return {};
  taps = static_cast<int>(tensor->dims(1));
  std::vector<float> values(tensor->raw_data().size() / sizeof(float));
  std::memcpy(values.data(), tensor->raw_data().data(), tensor->raw_data().size());
  return values;
}

}  // namespace

bool laysOutByClass(const onnx::NodeProto& node) {
  if (node.op_type() != "Transpose") return false;
  const auto& order = onnx_graph::attributeOf(node, "perm").ints();
  return std::vector<std::int64_t>(order.begin(), order.end()) == std::vector<std::int64_t>{0, 3, 1, 2};
}

std::optional<AxisTaps> resizeOf(const onnx::GraphProto& graph, const onnx::NodeProto* node, int axis) {
  if (!isOp(node, "HeadWindow") || onnx_graph::attributeOf(*node, "function").s() != "Sum" ||
      onnx_graph::attributeOf(*node, "axis").i() != axis || node->input_size() != 3)
    return std::nullopt;
  AxisTaps made;
  const std::vector<float> indices = constantOf(graph, node->input(1), made.taps);
  made.weights = constantOf(graph, node->input(2), made.taps);
  if (indices.empty() || indices.size() != made.weights.size() || made.taps > 2) return std::nullopt;
  made.indices.assign(indices.begin(), indices.end());
  for (std::size_t i = 1; i < indices.size() && made.taps == 2; i += 2)
    if (std::abs(made.indices[i] - made.indices[i - 1]) > 1) return std::nullopt;
  return made;
}

ScoreRows scoreRowsOf(const onnx::GraphProto& graph, const ModelInfo& info, bool resized) {
  if (info.hasPixelClasses()) {
    for (auto node = graph.node().rbegin(); node != graph.node().rend(); ++node)
      if (onnx_graph::isOurs(*node) && node->op_type() == "RestoreTokens") return {node->output(0), {}, {}};
    throw Error("the model has no op RestoreTokens: convert the original model again");
  }
  if (info.head == HeadKind::kMaskQueries || info.outputs.empty()) return {};
  const onnx::NodeProto* const last = producerOf(graph, info.outputs[0]);
  if (last == nullptr || !laysOutByClass(*last)) return {};
  ScoreRows found{last->input(0), {}, {}};
  const onnx::NodeProto* const columns = producerOf(graph, found.name);
  const auto column_taps = resized ? std::nullopt : resizeOf(graph, columns, 2);
  if (!column_taps) return found;
  const onnx::NodeProto* const rows = producerOf(graph, columns->input(0));
  if (const auto row_taps = resizeOf(graph, rows, 1)) found = {rows->input(0), *row_taps, *column_taps};
  return found;
}

bool givesProbabilities(const onnx::GraphProto& graph, const ModelInfo& info) {
  if (info.head == HeadKind::kMaskQueries) return true;
  if (info.hasPixelClasses() || info.outputs.empty()) return false;
  const onnx::NodeProto* last = producerOf(graph, info.outputs[0]);
  // Moving and resizing scores leaves probabilities what they are.
  while (isOp(last, "Identity") || isOp(last, "Reshape") || isOp(last, "Transpose") || isOp(last, "HeadWindow"))
    last = producerOf(graph, last->input(0));
  return isOp(last, "Softmax") || isOp(last, "Sigmoid") || isOp(last, "Exp");
}

}  // namespace mpm
