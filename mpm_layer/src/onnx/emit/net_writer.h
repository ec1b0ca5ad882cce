// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <unordered_set>
#include <vector>

#include "onnx/model/graph_proto.h"
#include "onnx/model/tensor.h"

namespace mpm::onnx_graph {

/// `name` without the slashes in front; "tensor" when nothing else is left.
std::string baseName(std::string name);

/// Builds an ONNX model of ai.mpm ops and stock ones. Names of nodes and tensors follow docs/ops.md.
class NetWriter {
 public:
  using Attributes = std::vector<Attribute>;

  NetWriter(int opset, const std::string& graph_name);
  /// Goes on with a model.
  explicit NetWriter(onnx::ModelProto model);

  void input(const std::string& name, const Shape& shape);
  void output(const std::string& name, const Shape& shape);
  /// A float constant. Throws mpm::Error when a value is not finite.
  std::string weights(const std::string& name, const Shape& shape, const std::vector<float>& values);
  /// Any constant, under a name that is made unique.
  std::string constant(const std::string& name, const Tensor& tensor);
  /// A node of domain ai.mpm named after its first output; returns that name. This, stock() and copy() throw mpm::Error
  /// when a tensor already has the name of an output. Only names from the original graph can clash.
  std::string op(const std::string& type, const Names& inputs, const Names& outputs, const Attributes& attributes = {});
  /// Writes a node of standard ONNX.
  std::string stock(const std::string& type, const Names& inputs, const Names& outputs,
                    const Attributes& attributes = {});
  /// A stock node with the attributes of `proto`.
  std::string copy(const onnx::NodeProto& proto, const Names& inputs, const Names& outputs);
  /// One more attribute of the node that is called `node`.
  void set(const std::string& node, const Attribute& attribute);
  /// One more attribute of each node of this operator.
  void setEach(const std::string& op, const Attribute& attribute);
  void metadata(const std::string& key, const std::string& value);
  /// `name`, or name_2, name_3, ... when a tensor has that name already.
  std::string unique(const std::string& name);

  /// Returns the net without nodes and constants that no output needs.
  onnx::ModelProto model() &&;

 private:
  onnx::NodeProto& add(const std::string& type, const Names& inputs, const Names& outputs,
                       const Attributes& attributes);
  template <class T>
  std::string initialiser(const std::string& name, const Shape& shape, int type, const std::vector<T>& values);

  onnx::ModelProto model_;
  std::unordered_set<std::string> taken_;  ///< names that unique() returned
  std::unordered_set<std::string> made_;   ///< the input, and outputs of nodes
};

}  // namespace mpm::onnx_graph
