// SPDX-License-Identifier: Apache-2.0
#include "net/score_rows.h"

#include <algorithm>
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

/// {.., H, W, classes} -> {.., classes, H, W}
bool laysOutByClass(const onnx::NodeProto& node) {
  const auto& order = onnx_graph::attributeOf(node, "perm").ints();
  return std::vector<std::int64_t>(order.begin(), order.end()) == std::vector<std::int64_t>{0, 3, 1, 2};
}

/// Empty: `name` is no constant whose values are here, {outputs, taps}.
std::vector<float> constantOf(const onnx::GraphProto& graph, const std::string& name, int& taps) {
  const onnx::TensorProto* const tensor = onnx_graph::findNamed(graph.initializer(), name);
  if (tensor == nullptr || !onnx_graph::isPlain(*tensor) || tensor->dims_size() != 2) return {};
  taps = static_cast<int>(tensor->dims(1));
  std::vector<float> values(tensor->raw_data().size() / sizeof(float));
  std::memcpy(values.data(), tensor->raw_data().data(), tensor->raw_data().size());
  return values;
}

/// What `node` makes along `axis`; nullopt: it is no resize, or one of more than two taps, such as a bicubic one, which
/// composes with the resize to the image to many.
std::optional<AxisTaps> resizeOf(const onnx::GraphProto& graph, const onnx::NodeProto* node, int axis) {
  if (!isOp(node, "HeadWindow") || onnx_graph::attributeOf(*node, "function").s() != "Sum" ||
      onnx_graph::attributeOf(*node, "axis").i() != axis || node->input_size() != 3)
    return std::nullopt;
  AxisTaps made;
  const std::vector<float> indices = constantOf(graph, node->input(1), made.taps);
  made.weights = constantOf(graph, node->input(2), made.taps);
  if (indices.empty() || indices.size() != made.weights.size() || made.taps > 2) return std::nullopt;
  made.indices.assign(indices.begin(), indices.end());
  return made;
}

}  // namespace

AxisResampling AxisTaps::of(int inputs) const {
  AxisResampling axis;
  axis.inputs = inputs;
  const auto each = static_cast<std::ptrdiff_t>(taps);
  for (auto at = indices.begin(); at != indices.end(); at += each) {
    const auto [least, most] = std::minmax_element(at, at + each);
    if (*least < 0 || *most >= inputs)
      throw Error("the model's last resize takes row or column " + std::to_string(*most) + " of " +
                  std::to_string(inputs) + ": convert the original model again");
    axis.taps = std::max(axis.taps, *most - *least + 1);
  }
  for (std::size_t i = 0; i < indices.size(); i += static_cast<std::size_t>(taps)) {
    const auto at = indices.begin() + static_cast<std::ptrdiff_t>(i);
    axis.first.push_back(std::min(*std::min_element(at, at + each), inputs - axis.taps));
    const std::size_t row = axis.weight.size();
    axis.weight.resize(row + static_cast<std::size_t>(axis.taps), 0.0f);
    for (std::size_t t = 0; t < static_cast<std::size_t>(taps); ++t)
      axis.weight[row + static_cast<std::size_t>(indices[i + t] - axis.first.back())] += weights[i + t];
  }
  return axis;
}

ScoreRows scoreRowsOf(const onnx::GraphProto& graph, const ModelInfo& info, bool resized) {
  if (info.segments()) {
    for (auto node = graph.node().rbegin(); node != graph.node().rend(); ++node)
      if (onnx_graph::isOurs(*node) && node->op_type() == "RestoreTokens") return {node->output(0), {}, {}};
    throw Error("the model has no op RestoreTokens: convert the original model again");
  }
  if (info.head == HeadKind::kMaskQueries || info.outputs.empty()) return {};
  const onnx::NodeProto* const last = producerOf(graph, info.outputs[0]);
  if (!isOp(last, "Transpose") || !laysOutByClass(*last)) return {};
  ScoreRows found{last->input(0), {}, {}};
  const onnx::NodeProto* const columns = producerOf(graph, found.name);
  const auto column_taps = resized ? std::nullopt : resizeOf(graph, columns, 2);
  if (!column_taps) return found;
  const onnx::NodeProto* const rows = producerOf(graph, columns->input(0));
  if (const auto row_taps = resizeOf(graph, rows, 1)) found = {rows->input(0), *row_taps, *column_taps};
  return found;
}

}  // namespace mpm
