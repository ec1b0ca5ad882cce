// SPDX-License-Identifier: Apache-2.0
#include "net/graph_marks.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "layers/layer_supply.h"
#include "layers/mpm_layer.h"
#include "layers/ops.h"
#include "mpm/error.hpp"
#include "mpm/read_net.hpp"
#include "net/score_rows.h"
#include "onnx/model/graph_proto.h"

namespace mpm::onnx_graph {
namespace {

int integer(const onnx::NodeProto& node, const std::string& name) {
  return static_cast<int>(attributeOf(node, name).i());
}

[[noreturn]] void refuse(const onnx::NodeProto& node, const std::string& why) {
  throw Error("rows of earlier frames cannot be reused: node '" + node.name() + "' (" + node.op_type() + ") " + why +
              "; run it without reuse");
}

std::string keptRows(const std::string& tokens) { return "restore/keep/" + tokens; }
std::string keptState(const std::string& tokens) { return keptRows(tokens) + "/state"; }

// An op KeepRows for the tokens and the state that `reader` reads.
void keepRows(onnx::NodeProto& keep, const std::string& tokens, const onnx::NodeProto& reader) {
  describeNode(keep, "KeepRows", {tokens, reader.input(1)}, {keptRows(tokens), keptState(tokens)},
               {{"special_tokens", attributeOf(reader, "special_tokens").i()}, {LayerSupply::kReuse, std::int64_t{1}}});
  keep.set_domain(kOurDomain);
}

/// The producer and the readers of a tensor.
struct Use {
  bool made_by_us = false;
  int our_readers = 0;
  bool read_on_host = false;
};

/// The whole numbers of a constant of the graph; empty: it is none of them, or has another type.
std::vector<std::int64_t> wholeNumbers(const onnx::GraphProto& graph, const std::string& name) {
  const onnx::TensorProto* const tensor = findNamed(graph.initializer(), name);
  if (tensor == nullptr || tensor->data_type() != onnx::TensorProto::INT64) return {};
  std::vector<std::int64_t> values(tensor->int64_data().begin(), tensor->int64_data().end());
  if (values.empty() && tensor->raw_data().size() % sizeof(std::int64_t) == 0) {
    values.resize(tensor->raw_data().size() / sizeof(std::int64_t));
    std::memcpy(values.data(), tensor->raw_data().data(), tensor->raw_data().size());
  }
  return values;
}

/// Functions of one element that a converted model leaves to OpenCV.
constexpr const char* kUnary[] = {"Abs", "Exp", "Neg", "Sigmoid", "Sqrt", "Tanh"};

std::int64_t opsetOf(const onnx::ModelProto& model) {
  for (const onnx::OperatorSetIdProto& import : model.opset_import())
    if (import.domain().empty() || import.domain() == "ai.onnx") return import.version();
  return 0;
}

bool isStock(const onnx::NodeProto& node) { return node.domain().empty() || node.domain() == "ai.onnx"; }

/// Makes `node` an operator of ours with its first `inputs` operands.
void become(onnx::NodeProto& node, const std::string& op, int inputs, const std::vector<Attribute>& attributes) {
  const Names from(node.input().begin(), node.input().begin() + inputs);
  const Names to(node.output().begin(), node.output().end());
  onnx::NodeProto made;
  describeNode(made, op, from, to, attributes);
  made.set_domain(kOurDomain);
  node = std::move(made);
}

/// Makes stock nodes operators of ours where a device has them, so that values stay there between those of a head.
void takeOverStockNodes(onnx::GraphProto& graph, std::int64_t opset) {
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    if (!isStock(node)) continue;
    const auto isConstant = [&](const std::string& name) { return findNamed(graph.initializer(), name) != nullptr; };
    if (node.input_size() > 0 && isConstant(node.input(0))) continue;
    const bool computed = std::none_of(node.input().begin(), node.input().end(), isConstant);
    const bool unary = std::ranges::any_of(kUnary, [&](const char* name) { return node.op_type() == name; });
    if (node.op_type() == "Identity") {
      become(node, "HeadReshape", 1, {});
    } else if (node.op_type() == "Reshape" && attributeOf(node, "allowzero").i() == 0) {
      const std::vector<std::int64_t> shape = wholeNumbers(graph, node.input(1));
      if (!shape.empty()) become(node, "HeadReshape", 1, {{"shape", shape}});
    } else if (node.op_type() == "Transpose") {
      const auto& perm = attributeOf(node, "perm").ints();
      if (!perm.empty())
        become(node, "HeadTranspose", 1, {{"perm", std::vector<std::int64_t>(perm.begin(), perm.end())}});
    } else if (unary || (node.op_type() == "Add" && computed)) {
      become(node, "HeadElementwise", node.input_size(), {{"function", node.op_type()}});
    } else if (node.op_type() == "Softmax" && (opset >= 13 || attributeOf(node, "axis").i() == -1)) {
      const auto* const axis = findAttribute(node, "axis");  // before opset 13 it took all axes from this one on
      become(node, "HeadSoftmax", 1, {{"axis", axis != nullptr ? axis->i() : std::int64_t{-1}}});
    } else if (node.op_type() == "Concat" && computed) {
      become(node, "HeadConcat", node.input_size(), {{"axis", attributeOf(node, "axis").i()}});
    }
  }
}

/// Joins resizes along axes 1 and 2, and what lays the result out by channel. `graph` is in topological order.
void joinResizes(onnx::GraphProto& graph) {
  std::map<std::string, int> readers;
  for (const onnx::NodeProto& node : graph.node())
    for (const std::string& name : node.input()) ++readers[name];
  for (const onnx::ValueInfoProto& output : graph.output()) ++readers[output.name()];
  std::map<std::string, onnx::NodeProto*> maker;
  // What makes the first operand of a node, if only this node reads it.
  const auto before = [&](const onnx::NodeProto& node) -> onnx::NodeProto* {
    const auto found = node.input_size() > 0 ? maker.find(node.input(0)) : maker.end();
    return found != maker.end() && readers[found->first] == 1 ? found->second : nullptr;
  };
  std::set<const onnx::NodeProto*> joined;
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    onnx::NodeProto* const first = before(node);
    const auto become = [&](const Names& inputs, bool channels_first) {
      onnx::NodeProto made;
      describeNode(made, "HeadResize", inputs, {node.output(0)},
                   {{"channels_first", std::int64_t{channels_first ? 1 : 0}}});
      made.set_domain(kOurDomain);
      node = std::move(made);
      joined.insert(first);
    };
    if (resizeOf(graph, &node, 2) && resizeOf(graph, first, 1))
      become({first->input(0), first->input(1), first->input(2), node.input(1), node.input(2)}, false);
    else if (isStock(node) && laysOutByClass(node) && first != nullptr && first->op_type() == "HeadResize" &&
             attributeOf(*first, "channels_first").i() == 0)
      become({first->input().begin(), first->input().end()}, true);
    for (const std::string& name : node.output()) maker[name] = &node;
  }
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  for (onnx::NodeProto& node : *graph.mutable_node())
    if (!joined.contains(&node)) *nodes.Add() = std::move(node);
  graph.mutable_node()->Swap(&nodes);
}

}  // namespace

void requireUnmarked(const onnx::GraphProto& graph) {
  for (const onnx::NodeProto& node : graph.node()) {
    for (const char* const mark : {LayerSupply::kWeights, LayerSupply::kReuse, LayerSupply::kDevice}) {
      if (isOurs(node) && findAttribute(node, mark) != nullptr) {
        throw Error("node '" + node.name() + "' (" + node.op_type() + "): found the attribute '" + mark +
                    "', which no file has: convert the original model again");
      }
    }
  }
}

PatchPlaces reuseRows(onnx::GraphProto& graph, const ModelInfo& info) {
  PatchPlaces places;
  std::set<std::string> whole;                        // values that hold all rows
  std::map<std::string, std::string> state_of_whole;  // the state of all rows, by that of the computed rows
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  for (onnx::NodeProto node : graph.node()) {
    const RowReuse reuse = isOurs(node) ? rowReuseOf(node.op_type()) : RowReuse::kNoRows;
    if (reuse == RowReuse::kSource) {
      if (places.grid_h > 0) refuse(node, "cuts patches a second time");
      places = {info.grid.height,          info.grid.width,           info.patch.height,      info.patch.width,
                integer(node, "stride_h"), integer(node, "stride_w"), integer(node, "pad_h"), integer(node, "pad_w")};
    }
    if (reuse == RowReuse::kRefused) refuse(node, "mixes rows in a way that reuse does not know");
    if (const auto* groups = findAttribute(node, "groups");
        isOurs(node) && groups != nullptr && groups->has_s() && groups->s() != "mutual_pairs")  // else of channels
      refuse(node, "merges rows by '" + groups->s() + "', and groups outlive frames with mpm and gradual only");
    const bool has_rows = (reuse == RowReuse::kEachRow || reuse == RowReuse::kAllRows) && node.input_size() > 1 &&
                          node.op_type() != "RotaryPositions";
    if (has_rows && !whole.contains(node.input(0)) && reuse == RowReuse::kAllRows) {
      const std::string tokens = node.input(0);
      if (whole.insert(keptRows(tokens)).second) keepRows(*nodes.Add(), tokens, node);
      state_of_whole[node.input(1)] = keptState(tokens);
      node.set_input(0, keptRows(tokens));
    }
    if (has_rows && whole.contains(node.input(0))) {
      if (const auto found = state_of_whole.find(node.input(1)); found != state_of_whole.end())
        node.set_input(1, found->second);
      whole.insert(node.output(0));
    } else if (reuse == RowReuse::kSource || reuse == RowReuse::kEachRow) {
      addAttribute(node, {LayerSupply::kReuse, std::int64_t{1}});
    }
    *nodes.Add() = std::move(node);
  }
  if (places.grid_h == 0) throw Error("rows of earlier frames cannot be reused: the model has no op PatchEmbed");
  graph.mutable_node()->Swap(&nodes);
  return places;
}

void joinForCpu(onnx::GraphProto& graph) {
  joinResizes(graph);
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    if (!isStock(node) || node.op_type() != "Transpose" || findNamed(graph.initializer(), node.input(0))) continue;
    const auto& perm = attributeOf(node, "perm").ints();
    if (perm.size() == 4 && perm[0] == 0 && movedRuns({perm.begin(), perm.end()}))
      become(node, "HeadTranspose", 1, {{"perm", std::vector<std::int64_t>(perm.begin(), perm.end())}});
  }
}

void placeOnDevice(onnx::ModelProto& model) {
  onnx::GraphProto& graph = *model.mutable_graph();
  takeOverStockNodes(graph, opsetOf(model));
  std::map<std::string, Use> uses;
  for (const onnx::NodeProto& node : graph.node()) {
    for (const std::string& name : node.output()) uses[name].made_by_us = isOurs(node);
    for (const std::string& name : node.input()) {
      Use& use = uses[name];
      isOurs(node) ? void(++use.our_readers) : void(use.read_on_host = true);
    }
  }
  for (const onnx::ValueInfoProto& output : graph.output()) uses[output.name()].read_on_host = true;
  std::set<std::string> constants;
  for (const onnx::TensorProto& constant : graph.initializer()) constants.insert(constant.name());
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    if (!isOurs(node)) continue;
    std::string device_inputs, device_outputs, host_outputs;
    for (const std::string& name : node.input()) {
      if (constants.contains(name)) continue;
      const Use& use = uses[name];
      const bool alone = use.our_readers == 1 && (use.made_by_us || !use.read_on_host);
      device_inputs += use.made_by_us ? (alone ? '2' : '1') : (alone ? '3' : '0');
    }
    for (const std::string& name : node.output()) {
      device_outputs += uses[name].our_readers > 0 ? '1' : '0';
      host_outputs += uses[name].read_on_host ? '1' : '0';
    }
    addAttribute(node, {LayerSupply::kDevice, std::int64_t{1}});
    addAttribute(node, {"device_inputs", device_inputs});
    addAttribute(node, {"device_outputs", device_outputs});
    addAttribute(node, {"host_outputs", host_outputs});
  }
}

}  // namespace mpm::onnx_graph
