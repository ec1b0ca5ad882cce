// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace mpm::onnx_graph {

inline constexpr const char* kOurDomain = "ai.mpm";

/// Whether `node` is an op of docs/ops.md.
inline bool isOurs(const onnx::NodeProto& node) { return node.domain() == kOurDomain; }

/// Names of tensors: the inputs or the outputs of a node.
using Names = std::vector<std::string>;

/// Name and value.
using Attribute = std::pair<std::string, std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>>>;

/// The entry of this name in a list of protobuf's; null: there is none.
template <class List>
const auto* findNamed(const List& list, const std::string& name) {
  const auto found = std::ranges::find_if(list, [&](const auto& entry) { return entry.name() == name; });
  return found != list.end() ? &*found : nullptr;
}

/// The attribute of this name; null: there is none.
const onnx::AttributeProto* findAttribute(const onnx::NodeProto& node, const std::string& name);

/// The same; 0 and "" where there is none.
const onnx::AttributeProto& attributeOf(const onnx::NodeProto& node, const std::string& name);

/// Makes `node` an operator that is called like its first output.
void describeNode(onnx::NodeProto& node, const std::string& op, const Names& inputs, const Names& outputs,
                  const std::vector<Attribute>& attributes);

void addAttribute(onnx::NodeProto& node, const Attribute& attribute);

/// Throws mpm::Error if `node` is a convolution or a pooling and a size among its attributes is out of range. OpenCV
/// divides by some of them, and a division by 0 ends the process.
void requireWindow(const onnx::NodeProto& node);

/// Removes the nodes and the constants that no output of the graph needs.
void dropUnused(onnx::GraphProto& graph);

/// Makes the values `names` the outputs of the graph, in this order, and drops what they do not need. Throws mpm::Error
/// for a name that no node writes and for one that comes twice.
void selectOutputs(onnx::GraphProto& graph, const std::vector<std::string>& names);

}  // namespace mpm::onnx_graph
