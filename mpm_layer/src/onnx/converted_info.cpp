// SPDX-License-Identifier: Apache-2.0
#include "onnx/converter.h"

#include <algorithm>
#include <map>

#include "base/reduction_defaults.h"
#include "base/size_text.h"
#include "mpm/error.hpp"
#include "onnx/model/graph_proto.h"
#include "onnx/model/model_info_json.h"
#include "onnx/model/tensor.h"

namespace mpm::onnx_graph {
namespace {

constexpr const char* kAgain = ": convert the original model again";

constexpr int kMaxWidth = 1 << 30, kMaxSpecialTokens = 1 << 20;
constexpr int kMaxBlocks = 10'000;  // more than a graph of a million nodes can hold; the app shows each block

bool isOurOp(const onnx::NodeProto& node, const std::string& op) { return isOurs(node) && node.op_type() == op; }

/// `value` as an int from `least` to `most`; otherwise throws mpm::Error.
int within(const onnx::NodeProto& node, const std::string& what, std::int64_t value, int least, int most) {
  if (value >= least && value <= most) return static_cast<int>(value);
  throw Error("node '" + node.name() + "' (" + node.op_type() + "): " + std::to_string(value) + " " + what +
              ", expected " + std::to_string(least) + " to " + std::to_string(most) + kAgain);
}

/// Adds the input, tokens and weight of the graph's only PatchEmbed, apart from that of a merging step. Returns the
/// name of its image.
std::string addPatchEmbed(const onnx::GraphProto& graph, ModelInfo& info) {
  const auto found = [](const onnx::NodeProto& node) {
    return isOurOp(node, "PatchEmbed") && !node.name().starts_with("merge/");
  };
  const auto count = std::ranges::count_if(graph.node(), found);
  if (count != 1) throw Error("holds " + std::to_string(count) + " PatchEmbed, expected one" + kAgain);
  const onnx::NodeProto& node = *std::ranges::find_if(graph.node(), found);
  const onnx::TensorProto* weight = node.input_size() < 2 ? nullptr : findNamed(graph.initializer(), node.input(1));
  if (!weight || weight->dims_size() != 4)
    throw Error("node '" + node.name() + "' (PatchEmbed): no weights of shape {d, C, kh, kw}" + kAgain);
  const auto attribute = [&](const char* name) { return attributeOf(node, name).i(); };
  info.dim = within(node, "columns", weight->dims(0), 1, kMaxWidth);
  info.special_tokens = within(node, "special tokens", attribute("special_tokens"), 0, kMaxSpecialTokens);
  info.patch = {within(node, "px of patch", weight->dims(2), 1, kLongestSide),
                within(node, "px of patch", weight->dims(3), 1, kLongestSide)};
  info.input = {within(node, "px of input", attribute("height"), 1, kLongestSide),
                within(node, "px of input", attribute("width"), 1, kLongestSide)};
  const Size2 stride{within(node, "px of stride", attribute("stride_h"), 1, kLongestSide),
                     within(node, "px of stride", attribute("stride_w"), 1, kLongestSide)};
  const Size2 pad{static_cast<int>(std::clamp<std::int64_t>(attribute("pad_h"), 0, info.patch.height)),
                  static_cast<int>(std::clamp<std::int64_t>(attribute("pad_w"), 0, info.patch.width))};
  if (info.input.height < info.patch.height || info.input.width < info.patch.width) {
    throw Error("node '" + node.name() + "' (PatchEmbed): an input of " + sizeText(info.input) +
                ", smaller than a patch of " + sizeText(info.patch) + kAgain);
  }
  info.grid = {(info.input.height + 2 * pad.height - info.patch.height) / stride.height + 1,
               (info.input.width + 2 * pad.width - info.patch.width) / stride.width + 1};
  info.precision = parsePrecision(attributeOf(node, "precision").s());
  info.image_channels = within(node, "channels", weight->dims(1), 1, kMaxWidth);
  return node.input(0);
}

std::vector<const onnx::NodeProto*> mergesOf(const onnx::GraphProto& graph) {
  std::vector<const onnx::NodeProto*> merges;
  for (const onnx::NodeProto& node : graph.node())
    if (isOurOp(node, "MutualPairMerge") || isOurOp(node, "MergeTokens")) merges.push_back(&node);
  return merges;
}

bool isStep(const onnx::NodeProto& node, const MergeStep& step) {
  onnx::NodeProto expected;
  for (const Attribute& attribute : attributesOf(step.rule)) addAttribute(expected, attribute);
  const auto has = [&](const onnx::AttributeProto& wanted) {
    return std::ranges::any_of(node.attribute(), [&](const onnx::AttributeProto& found) {
      return found.SerializeAsString() == wanted.SerializeAsString();
    });
  };
  const int inputs = step.scored() ? 4 : step.keys ? 3 : 2;
  return isOurOp(node, expected.attribute().empty() ? "MutualPairMerge" : "MergeTokens") &&
         node.name() == step.name() && node.input_size() == inputs && std::ranges::all_of(expected.attribute(), has);
}

/// The merging steps of `info` are those of the graph, in this order.
void requireSteps(const ModelInfo& info, const onnx::GraphProto& graph) {
  const std::vector<const onnx::NodeProto*> merges = mergesOf(graph);
  const std::vector<MergeStep> steps = mergeSteps(info);
  for (std::size_t i = 0; i < merges.size(); ++i) {
    if (i >= steps.size() || !isStep(*merges[i], steps[i])) {
      throw Error("node '" + merges[i]->name() + "' (" + merges[i]->op_type() + ") is not of the reduction '" +
                  mpm::toString(info.reduction) + "' that metadata 'mpm.info' says" + kAgain);
    }
  }
  if (merges.size() != steps.size()) {
    throw Error("metadata 'mpm.info': says reduce " + mpm::toString(info.reduction) + " with " +
                std::to_string(steps.size()) + " merging steps, the graph has " + std::to_string(merges.size()) +
                kAgain);
  }
}

void requireShape(const std::string& what, const onnx::ValueInfoProto& value, const Shape& expected) {
  if (!value.type().tensor_type().has_shape()) return;
  Shape found;
  for (const auto& dim : value.type().tensor_type().shape().dim()) found.push_back(dim.dim_value());
  bool same = found.size() == expected.size();
  for (std::size_t i = 1; same && i < found.size(); ++i) same = found[i] == expected[i] || found[i] == 0;
  if (!same) throw Error(what + ": found shape " + toString(found) + ", expected " + toString(expected) + kAgain);
}

/// Number of classes of a segmentation net: the length of the bias of the op before the last RestoreTokens, its last
/// constant.
std::int64_t segmentedClasses(const onnx::GraphProto& graph) {
  const auto restore = std::find_if(graph.node().rbegin(), graph.node().rend(),
                                    [](const onnx::NodeProto& node) { return isOurOp(node, "RestoreTokens"); });
  if (restore == graph.node().rend() || restore->input_size() == 0) return 0;
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
  if (const onnx::ValueInfoProto* const output = findNamed(graph.output(), name)) return *output;
  throw Error("output '" + name + "' is not in the graph" + kAgain);
}

}  // namespace

void addInfoOfGraph(const onnx::GraphProto& graph, ModelInfo& info) {
  const std::string image = addPatchEmbed(graph, info);
  std::map<std::string, const onnx::NodeProto*> nodes;
  for (const onnx::NodeProto& node : graph.node()) nodes.emplace(node.name(), &node);
  const std::string block = "backbone/block";
  while (info.blocks < kMaxBlocks && nodes.count(block + std::to_string(info.blocks))) ++info.blocks;
  if (info.blocks == 0) throw Error("holds no node '" + block + "0'" + kAgain);
  const auto attention = nodes.find(block + "0/attention");  // where tokens merge inside the block
  const onnx::NodeProto& first = *(attention != nodes.end() ? attention : nodes.find(block + "0"))->second;
  info.heads = within(first, "heads", attributeOf(first, "heads").i(), 1, kMaxWidth);
  requireSteps(info, graph);
  if (const onnx::ValueInfoProto* const input = findNamed(graph.input(), image))
    requireShape("input '" + image + "'", *input, {1, info.image_channels, info.input.height, info.input.width});
  const auto requireOutput = [&](const std::string& name, const Shape& shape) {
    requireShape("output '" + name + "'", outputOf(graph, name), shape);
  };
  const auto insertions = static_cast<std::int64_t>(mergesOf(graph).size());
  requireOutput("merge_map", {1, std::max<std::int64_t>(insertions, 1), info.tokens()});
  requireOutput("token_counts", {1, insertions + 1});
  if (info.outputs.empty()) throw Error(std::string("metadata 'mpm.info': names no output") + kAgain);
  for (const std::string& name : info.outputs) outputOf(graph, name);
  // An output of the graph itself may have that name.
  info.scores =
      info.hasPixelClasses() && !std::ranges::count(info.outputs, "scores") && findNamed(graph.output(), "scores");
  if (const std::int64_t classes = segmentedClasses(graph); info.hasPixelClasses() && classes != info.classes) {
    throw Error("metadata 'mpm.info': says class_count " + std::to_string(info.classes) + ", the graph has " +
                std::to_string(classes) + kAgain);
  }
  const bool classifies = info.head == HeadKind::kClassifier;
  if (classifies) requireSide(outputOf(graph, info.outputs.front()), info.classes);
  if (info.hasClasses()) requireClasses(info.facts, info.classes);
  requireTask(info);
  if (info.hasClasses() != (info.classes > 0)) {
    throw Error("metadata 'mpm.info': says " + std::to_string(info.classes) + " classes for the head '" +
                mpm::toString(info.head) + "'" + kAgain);
  }
}

}  // namespace mpm::onnx_graph
