// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "network_config.h"

namespace mpm::train {

/// Segmenter as an ONNX file, serialised: opset 17, standard ops alone, batch free, input "image" {batch, 3, H, W}
/// (normalised), output "logits" {batch, classes, H, W}. `half` stores matrices and embeddings as float16, each widened
/// by a Cast, so any float32 runtime reads it. `weights` must fit `config`, whose input is that of the file.
std::string onnxModel(const NetworkConfig& config, const TensorMap& weights, bool half);

/// What onnxModel() wrote: the weights by their names, as float32, and the input's size; the rest of `config` is the
/// caller's to know. Throws mpm::Error when `bytes` are another ONNX file, or none.
struct OnnxWeights {
  TensorMap weights;
  Size2 input;
};
OnnxWeights weightsOfOnnx(const std::string& bytes);

/// Writes STEM.onnx and STEM.json (the facts that ONNX lacks) for images of `config.input`; `weights` are those of a
/// network of `trained`, whose position embedding is resized where the sizes differ. Each file whole or not at all.
void writeModel(const std::string& stem, const NetworkConfig& trained, const TensorMap& weights, Size2 input, bool half,
                const ModelFacts& facts);

}  // namespace mpm::train
