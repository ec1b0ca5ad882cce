// SPDX-License-Identifier: Apache-2.0
#include "onnx/converted_info.h"

#include <algorithm>
#include <charconv>

#include "base/size_text.h"
#include "mpm/error.hpp"
#include "onnx/converter.h"
#include "onnx/merge_steps.h"
#include "onnx/model/model_info_json.h"
#include "onnx/model/node_proto.h"

namespace mpm::onnx_graph {
namespace {

constexpr const char* kAgain = ": convert the original model again";

void requireSame(const std::string& field, const std::string& said, const std::string& found) {
  if (said == found) return;
  throw Error("metadata 'mpm.info': says " + field + " " + said + ", the graph has " + found + kAgain);
}

bool isOurOp(const onnx::NodeProto& node, const std::string& op) { return isOurs(node) && node.op_type() == op; }

/// Input, tokens and weight of the graph's only PatchEmbed, apart from that of a merging step.
struct PatchEmbed {
  std::string image;
  std::int64_t channels = 0, dim = 0, special = 0;
  Size2 input, patch, stride, pad;

  Size2 grid() const {
    return {(input.height + 2 * pad.height - patch.height) / stride.height + 1,
            (input.width + 2 * pad.width - patch.width) / stride.width + 1};
  }
};

/// `value` as a size in px, from 1 to kLongestSide; otherwise throws mpm::Error.
int pixels(const onnx::NodeProto& node, const std::string& what, std::int64_t value) {
  if (value >= 1 && value <= kLongestSide) return static_cast<int>(value);
  throw Error("node '" + node.name() + "' (PatchEmbed): " + what + " of " + std::to_string(value) +
              " px, smaller than 1 or larger than " + std::to_string(kLongestSide) + kAgain);
}

PatchEmbed patchEmbedOf(const onnx::GraphProto& graph) {
  const auto found = [](const onnx::NodeProto& node) {
    return isOurOp(node, "PatchEmbed") && !node.name().starts_with("merge/");
  };
  const auto count = std::count_if(graph.node().begin(), graph.node().end(), found);
  if (count != 1) throw Error("holds " + std::to_string(count) + " PatchEmbed, expected one" + kAgain);
  const onnx::NodeProto& node = *std::find_if(graph.node().begin(), graph.node().end(), found);
  const auto named = [&](const onnx::TensorProto& tensor) { return tensor.name() == node.input(1); };
  const auto weight = node.input_size() < 2
                          ? graph.initializer().end()
                          : std::find_if(graph.initializer().begin(), graph.initializer().end(), named);
  if (weight == graph.initializer().end() || weight->dims_size() != 4)
    throw Error("node '" + node.name() + "' (PatchEmbed): no weights of shape {d, C, kh, kw}" + kAgain);
  const auto attribute = [&](const char* name) -> std::int64_t {
    for (const onnx::AttributeProto& one : node.attribute())
      if (one.name() == name) return one.i();
    return 0;
  };
  PatchEmbed result;
  result.image = node.input(0);
  result.dim = weight->dims(0);
  result.channels = weight->dims(1);
  result.special = attribute("special_tokens");
  result.patch = {pixels(node, "a patch", weight->dims(2)), pixels(node, "a patch", weight->dims(3))};
  result.input = {pixels(node, "an input", attribute("height")), pixels(node, "an input", attribute("width"))};
  result.stride = {pixels(node, "a stride", attribute("stride_h")), pixels(node, "a stride", attribute("stride_w"))};
  result.pad = {static_cast<int>(std::clamp<std::int64_t>(attribute("pad_h"), 0, result.patch.height)),
                static_cast<int>(std::clamp<std::int64_t>(attribute("pad_w"), 0, result.patch.width))};
  if (result.input.height < result.patch.height || result.input.width < result.patch.width)
    throw Error("node '" + node.name() + "' (PatchEmbed): an input of " + toString(result.input) +
                " px, smaller than a patch of " + toString(result.patch) + kAgain);
  return result;
}

std::vector<const onnx::NodeProto*> mergesOf(const onnx::GraphProto& graph) {
  std::vector<const onnx::NodeProto*> merges;
  for (const onnx::NodeProto& node : graph.node())
    if (isOurOp(node, "MutualPairMerge") || isOurOp(node, "MergeTokens")) merges.push_back(&node);
  return merges;
}

/// The blocks before or in which the graph merges, as the names of its merging steps have them.
Schedule scheduleOf(const onnx::GraphProto& graph) {
  Schedule schedule;
  for (const onnx::NodeProto* node : mergesOf(graph)) {
    const std::string& name = node->name();
    int block = -1;
    for (const std::string prefix : {"merge/before_block", "merge/in_block"})
      if (name.starts_with(prefix)) std::from_chars(name.data() + prefix.size(), name.data() + name.size(), block);
    schedule.push_back(block);
  }
  return schedule;
}

bool isStep(const onnx::NodeProto& node, const MergeStep& step) {
  onnx::NodeProto expected;
  for (const Attribute& attribute : step.attributes) addAttribute(expected, attribute);
  const auto has = [&](const onnx::AttributeProto& wanted) {
    return std::any_of(node.attribute().begin(), node.attribute().end(), [&](const onnx::AttributeProto& found) {
      return found.SerializeAsString() == wanted.SerializeAsString();
    });
  };
  const int inputs = step.scored ? 4 : step.keys ? 3 : 2;
  return isOurOp(node, step.attributes.empty() ? "MutualPairMerge" : "MergeTokens") && node.name() == step.name() &&
         node.input_size() == inputs && std::all_of(expected.attribute().begin(), expected.attribute().end(), has);
}

/// The merging steps of `info` are those of the graph, in this order.
void requireSteps(const ModelInfo& info, const onnx::GraphProto& graph) {
  const std::vector<const onnx::NodeProto*> merges = mergesOf(graph);
  const std::vector<MergeStep> steps = mergeSteps(info);
  for (std::size_t i = 0; i < merges.size(); ++i)
    if (i >= steps.size() || !isStep(*merges[i], steps[i]))
      throw Error("node '" + merges[i]->name() + "' (" + merges[i]->op_type() + ") is not of the reduction '" +
                  mpm::toString(info.reduction) + "' that metadata 'mpm.info' says" + kAgain);
  requireSame("reduce", mpm::toString(info.reduction) + " with " + std::to_string(steps.size()) + " merging steps",
              mpm::toString(info.reduction) + " with " + std::to_string(merges.size()) + " merging steps");
}

void requireShape(const std::string& what, const onnx::ValueInfoProto& value, const Shape& expected) {
  if (!value.type().tensor_type().has_shape()) return;
  Shape found;
  for (const auto& dim : value.type().tensor_type().shape().dim()) found.push_back(dim.dim_value());
  bool same = found.size() == expected.size();
  for (std::size_t i = 1; same && i < found.size(); ++i) same = found[i] == expected[i] || found[i] == 0;
  if (!same) throw Error(what + ": found shape " + toString(found) + ", expected " + toString(expected) + kAgain);
}

/// Number of classes of a segmentation net: the length of the bias of the op before RestoreTokens, its last constant.
std::int64_t segmentedClasses(const onnx::GraphProto& graph) {
  const auto restore = std::find_if(graph.node().begin(), graph.node().end(),
                                    [](const onnx::NodeProto& node) { return isOurOp(node, "RestoreTokens"); });
  if (restore == graph.node().end() || restore->input_size() == 0) return 0;
  for (const onnx::NodeProto& node : graph.node()) {
    if (node.output_size() == 0 || node.output(0) != restore->input(0) || node.input_size() == 0) continue;
    for (const onnx::TensorProto& constant : graph.initializer())
      if (constant.name() == node.input(node.input_size() - 1) && constant.dims_size() == 1) return constant.dims(0);
  }
  return 0;
}

/// Throws mpm::Error unless a side of the output has this length or is symbolic.
void requireSide(const onnx::ValueInfoProto& output, std::int64_t side) {
  if (!output.type().tensor_type().has_shape()) return;
  for (const auto& dim : output.type().tensor_type().shape().dim())
    if (dim.dim_value() == side || dim.dim_value() == 0) return;
  throw Error("output '" + output.name() + "' has no side of " + std::to_string(side) + " classes" + kAgain);
}

const onnx::ValueInfoProto& outputOf(const onnx::GraphProto& graph, const std::string& name) {
  for (const onnx::ValueInfoProto& output : graph.output())
    if (output.name() == name) return output;
  throw Error("output '" + name + "' is not in the graph" + kAgain);
}

}  // namespace

void requireInfoOfGraph(const ModelInfo& info, const onnx::GraphProto& graph) {
  const PatchEmbed embed = patchEmbedOf(graph);
  const Schedule schedule = scheduleOf(graph);
  requireSame("input", toString(info.input), toString(embed.input));
  requireSame("patch", toString(info.patch), toString(embed.patch));
  requireSame("grid", toString(info.grid), toString(embed.grid()));
  requireSame("dim", std::to_string(info.dim), std::to_string(embed.dim));
  requireSame("special_tokens", std::to_string(info.special_tokens), std::to_string(embed.special));
  requireSame("schedule", mpm::toString(info.schedule), mpm::toString(schedule));
  if (!schedule.empty() && (schedule.front() < 0 || schedule.back() >= info.blocks))
    throw Error("merges before block " + std::to_string(schedule.back()) + ", metadata 'mpm.info' says " +
                std::to_string(info.blocks) + " blocks" + kAgain);
  requireSteps(info, graph);
  for (const onnx::ValueInfoProto& input : graph.input())
    if (input.name() == embed.image)
      requireShape("input '" + input.name() + "'", input, {1, embed.channels, embed.input.height, embed.input.width});
  const auto requireOutput = [&](const std::string& name, const Shape& shape) {
    requireShape("output '" + name + "'", outputOf(graph, name), shape);
  };
  const auto insertions = static_cast<std::int64_t>(schedule.size());
  requireOutput("merge_map", {1, std::max<std::int64_t>(insertions, 1), info.tokens()});
  requireOutput("token_counts", {1, insertions + 1});
  if (info.outputs.empty()) throw Error(std::string("metadata 'mpm.info': names no output") + kAgain);
  for (const std::string& name : info.outputs) outputOf(graph, name);
  if (info.segments())
    requireSame("class_count", std::to_string(info.classes), std::to_string(segmentedClasses(graph)));
  const bool classifies = info.head == HeadKind::kClassifier;
  if (classifies) requireSide(outputOf(graph, info.outputs.front()), info.classes);
  if (info.givesLabels() || classifies) requireClasses(info.facts, info.classes);
  requireTask(info);
  if ((info.givesLabels() || classifies) != (info.classes > 0))
    throw Error("metadata 'mpm.info': says " + std::to_string(info.classes) + " classes for the head '" +
                mpm::toString(info.head) + "'" + kAgain);
}

}  // namespace mpm::onnx_graph
