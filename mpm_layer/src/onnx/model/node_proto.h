// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace mpm::onnx_graph {

inline constexpr const char* kOurDomain = "ai.mpm";

/// Whether `node` is an op of docs/ops.md.
inline bool isOurs(const onnx::NodeProto& node) { return node.domain() == kOurDomain; }

/// Name and value.
using Attribute = std::pair<std::string, std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>>>;

void addAttribute(onnx::NodeProto& node, const Attribute& attribute);

}  // namespace mpm::onnx_graph
