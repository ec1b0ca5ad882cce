// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "mpm/model_info.hpp"
#include "network_config.h"

namespace mpm::train {

/// Writes STEM.onnx and STEM.json (the facts that ONNX lacks) for images of `config.input`; `weights` are those of a
/// network of `trained`, whose position embedding is resized where the sizes differ. Each file whole or not at all.
void writeModel(const std::string& stem, const NetworkConfig& trained, const TensorMap& weights, Size2 input, bool half,
                const ModelFacts& facts);

/// MODEL.json of these facts (docs/converter.md).
nlohmann::ordered_json toJson(const ModelFacts& facts, Size2 input);

/// Writes MODEL.onnx as `path` and MODEL.json beside it, both or none. A kill between the two renames leaves the new
/// JSON and the old model, which every reader refuses: both hold the same id.
void writeModel(const std::string& path, const std::string& onnx, nlohmann::ordered_json json);

}  // namespace mpm::train
