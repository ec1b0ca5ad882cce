// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "mpm/convert.hpp"
#include "onnx/model/model_file.h"
#include "onnx/model/model_info_json.h"

namespace mpm::onnx_graph {

constexpr int kLongestSide = 1 << 14;  ///< px, of the input of a converted net

/// What becomes of a model, and what it was.
struct Converted {
  onnx::ModelProto model;
  ModelInfo info;
};

/// The converter without files (but for external data in `folder`; empty: none). Throws mpm::Error without a file name.
/// `facts` is what the JSON beside the model says.
Converted convert(onnx::ModelProto model, const FactsFile& facts, const ConvertOptions& options,
                  const std::filesystem::path& folder);

/// The same for a file and the JSON beside it. Throws mpm::Error with its name (convert.cpp).
Converted convertPath(const std::filesystem::path& path, const ConvertOptions& options);

}  // namespace mpm::onnx_graph
