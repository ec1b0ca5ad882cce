// SPDX-License-Identifier: Apache-2.0
#include "model_files.h"

#include <filesystem>

#include "base/atomic_file.h"
#include "onnx_file.h"
#include "vision/labels/class_list.h"

namespace mpm::train {

nlohmann::ordered_json toJson(const ModelFacts& facts, Size2 input) {
  nlohmann::ordered_json json;
  json["name"] = facts.name;
  json["input"] = {{"height", input.height}, {"width", input.width}, {"channels", toString(facts.channels)}};
  json["mean"] = facts.mean;
  json["std"] = facts.std;
  json["classes"] = vision::toJson(facts.classes);
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

void writeModel(const std::string& path, const std::string& onnx, const nlohmann::ordered_json& json) {
  const std::string json_path = std::filesystem::path(path).replace_extension(".json").string();
  writeFileAtomically(json_path, json.dump(2) + "\n", true);
  writeFileAtomically(path, onnx, true);
}

}  // namespace mpm::train
