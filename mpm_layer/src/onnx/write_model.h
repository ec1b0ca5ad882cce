// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "mpm/model_info.hpp"

namespace mpm::onnx_graph {

/// MODEL.json of these facts (docs/converter.md).
nlohmann::ordered_json factsJson(const ModelFacts& facts, Size2 input);

/// Writes MODEL.onnx as `path` and MODEL.json beside it, both or none. A kill between the two renames leaves the new
/// JSON and the old model, which every reader refuses: both hold the same id.
void writeModel(const std::string& path, const std::string& onnx, nlohmann::ordered_json json);

}  // namespace mpm::onnx_graph
