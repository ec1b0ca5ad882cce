// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpm/model_info.hpp"
#include "network_config.h"

namespace mpm::train {

/// A Segmenter as models/ has it: plain ONNX, opset 17, with the weights under their names. Matrices are stored
/// transposed, and as float16 or float32 with a Cast behind each.
struct SegmenterFile {
  std::string onnx;  ///< the file; the graph of every model that is trained from it
  NetworkConfig config;
  TensorMap weights;
};

/// Throws mpm::Error naming the file when it is not a Segmenter that mpm-train wrote.
SegmenterFile readSegmenter(const std::string& path);

/// Writes STEM.onnx, the graph and configuration of `from` with these weights for images of `input`, and STEM.json with
/// the facts that ONNX lacks. `half` stores matrices and embeddings as float16. Both files or none.
void writeSegmenter(const std::string& stem, const SegmenterFile& from, TensorMap weights, Size2 input, bool half,
                    const ModelFacts& facts);

}  // namespace mpm::train
