// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace mpm::test {

/// How a builder stores weights.
enum class Storage { kFloat, kHalf, kFloatField, kExternal };

/// Writes ONNX graphs by hand, node for node as an exporter would.
class GraphBuilder {
 public:
  using Attribute = std::pair<const char*, std::variant<long, double, std::string, std::vector<long>>>;

  explicit GraphBuilder(int opset, Storage storage = Storage::kFloat);
  /// Goes on with a model that is there.
  explicit GraphBuilder(onnx::ModelProto model);

  int opset() const { return opset_; }
  /// A side of 0 is symbolic.
  void input(const std::string& name, const std::vector<long>& shape);
  void output(const std::string& name);
  /// The first output of the graph is this value instead.
  void result(const std::string& name) { model_.mutable_graph()->mutable_output(0)->set_name(name); }
  /// A node; returns its first output.
  std::string node(const std::string& op, const std::vector<std::string>& inputs,
                   const std::vector<Attribute>& attributes = {}, int outputs = 1, const std::string& name = "");
  static onnx::AttributeProto attribute(const Attribute& named);
  /// Output `index` of the node that made `first`.
  static std::string other(const std::string& first, int index) { return first + "#" + std::to_string(index); }
  /// Weights, stored as the options of the builder say.
  std::string weights(const std::string& name, const std::vector<long>& shape, const std::vector<double>& values);
  std::string ints(const std::vector<long>& values);
  std::string intScalar(long value);
  std::string number(double value);

  // Spellings that changed with the opset.
  std::string unsqueeze(const std::string& x, long axis);
  std::string reshape(const std::string& x, const std::vector<long>& shape) {
    return node("Reshape", {x, ints(shape)});
  }
  std::string transpose(const std::string& x, const std::vector<long>& order) {
    return node("Transpose", {x}, {{"perm", order}});
  }
  std::string slice(const std::string& x, long axis, long begin, long end) {
    return node("Slice", {x, ints({begin}), ints({end}), ints({axis})});
  }
  std::string reduceMean(const std::string& x, long axis, bool keep = true);
  std::string reduceSum(const std::string& x, long axis);

  onnx::ModelProto& model() { return model_; }
  /// Writes the file, and beside it NAME.data when weights are external.
  void save(const std::string& path);

 private:
  onnx::TensorProto tensor(const std::string& name, const std::vector<long>& shape, const std::vector<double>& values);
  std::string fresh(const std::string& stem) { return stem + "_" + std::to_string(count_++); }

  onnx::ModelProto model_;
  std::string external_;
  int opset_;
  Storage storage_;
  int count_ = 0;
};

/// Writes a policy of images of any size: the mean of each window of `side` x `side` px over all channels.
void saveMeanPolicy(const std::string& path, long side);

/// An entry that says where the values of a tensor are.
void addExternal(onnx::TensorProto& tensor, const char* key, const std::string& value);
/// A node "Constant" that makes the value `name`.
onnx::NodeProto constantOf(const std::string& name, const onnx::TensorProto& value);
/// A node y = op(x) of the domain "test", where functions are.
onnx::NodeProto callOf(const std::string& op, const char* from = "x", const char* to = "y",
                       const char* domain = "test");
/// A function y = NAME(x) of these nodes.
onnx::FunctionProto& addFunction(onnx::ModelProto& model, const std::string& name,
                                 const std::vector<onnx::NodeProto>& nodes, const char* result = "y");

}  // namespace mpm::test
