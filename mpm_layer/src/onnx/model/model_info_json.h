// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "mpm/model_info.hpp"

namespace mpm::onnx_graph {

/// ModelInfo as it travels in the metadata of a converted model, and back. fromJson throws mpm::Error on a text that
/// toJson did not write.
std::string toJson(const ModelInfo& info);
ModelInfo fromJson(const std::string& text);

/// What MODEL.json says (docs of the converter give its fields).
struct FactsFile {
  ModelFacts facts;
  Size2 input;  ///< 0 x 0 where it says nothing
};

/// MODEL.json for MODEL.onnx.
std::filesystem::path factsPath(std::filesystem::path onnx_path);

/// Reads the JSON beside `onnx_path`: the defaults, named after the model, where there is none. Throws mpm::Error,
/// naming the file and the field, when it is not what it should be.
FactsFile readFacts(const std::filesystem::path& onnx_path);

/// Throws mpm::Error when the facts name classes, but another number of them than the graph has.
void requireClasses(const ModelFacts& facts, int classes);

}  // namespace mpm::onnx_graph
