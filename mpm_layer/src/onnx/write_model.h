// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json_file.h"
#include "mpm/model_info.hpp"

namespace mpm::onnx_graph {

/// MODEL.json of these facts (docs/converter.md).
Json factsJson(const ModelFacts& facts, Size2 input);

/// Writes MODEL.onnx as `path` and MODEL.json beside it, both or none. A kill between the two renames leaves the new
/// JSON and the old model, which every reader refuses: both hold the same id.
void writeModel(const std::string& path, const std::string& onnx, Json json);

}  // namespace mpm::onnx_graph
