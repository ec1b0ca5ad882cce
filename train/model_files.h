// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpm/model_info.hpp"
#include "network_config.h"

namespace mpm::train {

/// Writes STEM.onnx and STEM.json (the facts that ONNX lacks) for images of `config.input`; `weights` are those of a
/// network of `trained`, whose position embedding is resized where the sizes differ. Each file whole or not at all.
void writeModel(const std::string& stem, const NetworkConfig& trained, const TensorMap& weights, Size2 input, bool half,
                const ModelFacts& facts);

}  // namespace mpm::train
