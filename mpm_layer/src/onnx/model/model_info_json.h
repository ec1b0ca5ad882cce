// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/json_file.h"
#include "mpm/model_info.hpp"

namespace mpm::onnx_graph {

/// The part of a ModelInfo that the graph of a converted model does not imply, as JSON for its metadata. fromJson
/// throws mpm::Error on a text that toJson did not write.
std::string toJson(const ModelInfo& info);
ModelInfo fromJson(const std::string& text);

/// Contents of MODEL.json (docs/converter.md has the fields).
struct FactsFile {
  ModelFacts facts;
  Size2 input;                      ///< 0 x 0 when absent
  std::optional<Reduction> reduce;  ///< of a caller that names none
  std::string onnx_id;              ///< kIdKey of the ONNX file that it was written with; empty: of any
};

/// In the metadata of an ONNX file: which JSON was written with it.
inline constexpr const char* kIdKey = "mpm.id";

/// Reads the JSON beside `onnx_path`. Without one: the defaults, with the name of the model file. Throws mpm::Error,
/// naming the file and the field, when a value is invalid.
FactsFile readFacts(const std::filesystem::path& onnx_path);

/// The same of this JSON, which stands or will stand at `path`.
FactsFile factsFrom(const JsonValue& json, const std::filesystem::path& path);

/// Throws mpm::Error when the facts name classes, but not as many as the graph has.
void requireClasses(const ModelFacts& facts, int classes);

/// Throws mpm::Error when the head cannot do the task.
void requireTask(const ModelInfo& info);

/// MODEL.json of these facts (docs/converter.md).
Json factsJson(const ModelFacts& facts, Size2 input);

/// Writes MODEL.onnx as `path` and MODEL.json beside it, both or none. A kill between the two renames leaves the new
/// JSON and the old model, which every reader refuses: both hold the same id.
void writeModel(const std::string& path, const std::string& onnx, Json json);

}  // namespace mpm::onnx_graph
