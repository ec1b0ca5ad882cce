// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "mpm/convert.hpp"
#include "onnx/model_file.h"
#include "onnx/model_info_json.h"

namespace mpm::onnx_graph {

constexpr int kLongestSide = 1 << 14;  ///< px, of the input of a converted net

/// What becomes of a model: the file, serialised, and what it is.
struct Converted {
  std::string bytes;
  ModelInfo info;
};

/// The converter without files (but for external data in `folder`; empty: none). Throws mpm::Error without a file name.
/// `facts` is what the JSON beside the model says.
Converted convert(onnx::ModelProto model, const FactsFile& facts, const ConvertOptions& options,
                  const std::filesystem::path& folder);

}  // namespace mpm::onnx_graph
