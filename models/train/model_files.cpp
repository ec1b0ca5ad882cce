// SPDX-License-Identifier: Apache-2.0
#include "model_files.h"

#include "base/atomic_file.h"
#include "onnx_file.h"
#include "recipe.h"

namespace mpm::train {

void writeModel(const std::string& stem, const NetworkConfig& trained, const TensorMap& weights, Size2 input, bool half,
                const ModelFacts& facts) {
  NetworkConfig config = trained;
  config.input = input;
  config.validate();
  const std::string model = onnxModel(config, fittedWeights(weights, trained, config, {}), half);
  nlohmann::ordered_json json;
  json["name"] = facts.name;
  json["input"] = {{"height", input.height}, {"width", input.width}, {"channels", toString(facts.channels)}};
  json["mean"] = facts.mean;
  json["std"] = facts.std;
  json["classes"] = toJson(facts.classes);
  json["ignore"] = facts.ignore;
  writeFileAtomically(stem + ".json", json.dump(2) + "\n", true);
  writeFileAtomically(stem + ".onnx", model, true);
}

}  // namespace mpm::train
