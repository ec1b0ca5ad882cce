// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "mpm/convert.hpp"
#include "onnx/emit/emitter.h"
#include "onnx/model/model_file.h"
#include "onnx/model/model_info_json.h"

namespace mpm::onnx_graph {

/// Converts a parsed model. External data is read from `folder`; empty: there is none. `facts`: the JSON beside the
/// model. `late`: weights that are not in `model` yet. Throws mpm::Error, without the name of the file.
Converted convert(onnx::ModelProto model, const FactsFile& facts, const ConvertOptions& options,
                  const std::filesystem::path& folder, LateWeights late = {});

/// The value of a plain ViT's graph that holds the tokens behind the last block.
struct EncoderOutput {
  std::string name;          ///< in the file
  std::string image;         ///< name of the network input
  bool rows_first = false;   ///< its shape is {special + N, batch, d} instead of {batch, special + N, d}
  std::int64_t special = 0;  ///< rows before the image tokens
  Size2 grid;                ///< image tokens
  Size2 input;               ///< px
};

/// Throws mpm::Error like convert(), for a converted model, and when no value of the file holds these tokens.
EncoderOutput encoderOutput(onnx::ModelProto& model, const FactsFile& facts, const std::filesystem::path& folder);

/// Converts a file, with the JSON beside it. Throws mpm::Error with the name of the file. In convert.cpp.
/// The JSON beside the model in `path`. Throws mpm::Error when it was written with another model: a program that
/// replaces both was killed between them.
FactsFile readFactsOf(const onnx::ModelProto& model, const std::filesystem::path& path);

Converted convertPath(const std::filesystem::path& path, const ConvertOptions& options);

}  // namespace mpm::onnx_graph
