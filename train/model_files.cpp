// SPDX-License-Identifier: Apache-2.0
#include "model_files.h"

#include "onnx/write_model.h"
#include "onnx_file.h"

namespace mpm::train {

void writeModel(const std::string& stem, const NetworkConfig& trained, const TensorMap& weights, Size2 input, bool half,
                const ModelFacts& facts) {
  NetworkConfig config = trained;
  config.input = input;
  config.validate();
  const std::string model = onnxModel(config, fittedWeights(weights, trained, config, {}), half);
  onnx_graph::writeModel(stem + ".onnx", model, onnx_graph::factsJson(facts, input));
}

}  // namespace mpm::train
