// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <deque>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpm/error.hpp"
#include "onnx/model/graph_proto.h"
#include "onnx/model/tensor.h"

namespace mpm::onnx_graph {

/// A tensor of the graph.
struct Value {
  std::string name;
  std::optional<Shape> shape;      ///< once it is known
  std::optional<Tensor> constant;  ///< an initialiser, or a result of folding
  int producer = -1;               ///< node, or -1
  bool integers = false;           ///< not floats, or maybe not
};

/// A node of the graph, original or rewritten by a canonical pass.
struct Node {
  std::string op;
  std::string domain;
  std::string name;
  std::vector<int> inputs;  ///< values; -1 where an optional input is left out
  std::vector<int> outputs;
  const onnx::NodeProto* proto = nullptr;  ///< attributes; null for nodes that a canonical pass made
  float eps = 0;                           ///< canonical LayerNorm and L2Normalize
  std::string activation;                  ///< canonical Activation: a name of docs/ops.md
  std::string written_as;                  ///< op before a canonical pass, for messages
  int branch = -1;                         ///< index of Graph::branches: the body of an If that the node is in
  bool dead = false;

  int input(std::size_t index) const { return index < inputs.size() ? inputs[index] : -1; }
  const onnx::AttributeProto* attribute(const char* wanted) const {
    return proto ? findAttribute(*proto, wanted) : nullptr;
  }
  std::int64_t integer(const char* wanted, std::int64_t otherwise) const {
    const onnx::AttributeProto* found = attribute(wanted);
    return found ? found->i() : otherwise;
  }
  float number(const char* wanted, float otherwise) const {
    const onnx::AttributeProto* found = attribute(wanted);
    return found ? found->f() : otherwise;
  }
  std::string text(const char* wanted, const std::string& otherwise) const {
    const onnx::AttributeProto* found = attribute(wanted);
    return found ? found->s() : otherwise;
  }
  std::optional<Integers> integers(const char* wanted) const {
    const onnx::AttributeProto* found = attribute(wanted);
    return found ? std::optional(Integers(found->ints().begin(), found->ints().end())) : std::nullopt;
  }
  Integers integers(const char* wanted, const Integers& otherwise) const {
    return integers(wanted).value_or(otherwise);
  }
};

/// The body of an If that runs when the condition has the value `when`.
struct Branch {
  int condition = -1;
  bool when = true;
  int outer = -1;  ///< the branch that the If is in, or -1
};

/// A graph without functions, its constants read. Borrows the ModelProto it was made from.
struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;  ///< in an order in which every value is made before it is used
  /// Nodes of a branch come before their If, whose inputs are the condition and the results of both branches.
  std::vector<Branch> branches;
  int image = -1;  ///< the one input that is not a constant
  std::vector<int> outputs;
  std::vector<std::string> output_names;
  int opset = 0;
  std::int64_t weights = 0;                              ///< elements of all initialisers
  std::shared_ptr<std::deque<onnx::NodeProto>> inlined;  ///< nodes of local functions, with their attributes

  int addValue(std::string name);
  int addConstant(std::string name, Tensor tensor);
  /// Makes the image {batch, H, W, C} the transposed one of a new image {batch, C, H, W} of the same name.
  void feedChannelsFirst();
  const Tensor* constant(int value) const {
    return value >= 0 && values[value].constant ? &*values[value].constant : nullptr;
  }
  bool mayBeIntegers(int value) const {
    const Tensor* tensor = constant(value);
    return tensor ? !tensor->isFloat() : value >= 0 && values[value].integers;
  }
  const Shape* shape(int value) const { return value >= 0 && values[value].shape ? &*values[value].shape : nullptr; }
  /// The live node that makes `value`, or null.
  const Node* producer(int value) const;
  /// Live nodes that read each value; a graph output counts as a reader with the index -1.
  std::vector<std::vector<int>> readers() const;
  /// Marks nodes that no output needs as dead and drops the dead ones.
  void dropUnused();
};

/// Reads the graph of `model`: constants and nodes, with local functions inlined. The graph's nodes keep pointing into
/// `model`. Throws mpm::Error.
Graph readGraph(onnx::ModelProto& model, const std::filesystem::path& folder);

bool isOneOf(const std::string& op, std::initializer_list<std::string_view> ops);

/// "node 'NAME' (OP)".
std::string describe(const Node& node);

/// Throws mpm::Error "node 'NAME' (OP): found FOUND, expected EXPECTED".
[[noreturn]] void refuse(const Node& node, const std::string& found, const std::string& expected);

/// Throws `error` again, with the name of the node where it names none.
[[noreturn]] void rethrow(const Node& node, const Error& error);

}  // namespace mpm::onnx_graph
