// SPDX-License-Identifier: Apache-2.0
#include "model_files.h"

#include <cinttypes>
#include <cstdio>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/class_json.h"
#include "onnx/model/model_file.h"
#include "onnx/model/model_info_json.h"
#include "onnx_file.h"
#include "vision/hash.h"

namespace mpm::train {

nlohmann::ordered_json toJson(const ModelFacts& facts, Size2 input) {
  nlohmann::ordered_json json;
  json["name"] = facts.name;
  json["input"] = {{"height", input.height}, {"width", input.width}, {"channels", toString(facts.channels)}};
  json["mean"] = facts.mean;
  json["std"] = facts.std;
  json["classes"] = mpm::toJson(facts.classes);
  json["ignore"] = facts.ignore;
  return json;
}

void writeModel(const std::string& stem, const NetworkConfig& trained, const TensorMap& weights, Size2 input, bool half,
                const ModelFacts& facts) {
  NetworkConfig config = trained;
  config.input = input;
  config.validate();
  const std::string model = onnxModel(config, fittedWeights(weights, trained, config, {}), half);
  writeModel(stem + ".onnx", model, toJson(facts, input));
}

void writeModel(const std::string& path, const std::string& onnx, nlohmann::ordered_json json) {
  const std::string json_path = std::filesystem::path(path).replace_extension(".json").string();
  char id[17];
  std::snprintf(id, sizeof id, "%016" PRIx64, vision::hashBytes(json.dump(), vision::hashBytes(onnx)));
  json["onnx_id"] = id;
  const std::string bytes = onnx_graph::withMetadata(onnx, onnx_graph::kIdKey, id), text = json.dump(2) + "\n";
  writeFilesAtomically({{json_path, text}, {path, bytes}});  // a new JSON without its model does no harm
}

}  // namespace mpm::train
