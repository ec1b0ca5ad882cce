// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpm/export.hpp"
#include "mpm/model_info.hpp"
#include "mpm/options.hpp"

namespace mpm {

/// Describes a plain ViT ONNX file or a converted one, without running it. Reads external data, and MODEL.json too;
/// of a converted file MODEL.json does not count, because the file holds the facts: to change them, convert again.
/// `options`: how the model would be converted. Throws mpm::Error when the file is not ONNX or not a plain pre-norm
/// ViT.
MPM_API ModelInfo readModelInfo(const std::string& onnx_path, const ConvertOptions& options = {});

/// A converted model.
struct ConvertedModel {
  std::string bytes;  ///< the ONNX file; OpenCV reads it after registerLayers()
  ModelInfo info;     ///< what the file is
};

/// Rewrites a plain ViT ONNX file: its encoder becomes ops of domain ai.mpm (docs/ops.md) that merge tokens. A
/// converted file is returned unchanged. Throws mpm::Error when the graph does not fit; the message names the first
/// node that does not, and what was expected there. Also throws when a converted file has other options
/// (ConvertOptions).
MPM_API ConvertedModel convertModel(const std::string& onnx_path, const ConvertOptions& options = {});

/// Writes the result of convertModel() into a file, completely or not at all. Returns what readModelInfo() says of it.
/// Throws mpm::Error also when `output_path` is one of modelFiles(onnx_path) or cannot be written.
MPM_API ModelInfo convertFile(const std::string& onnx_path, const std::string& output_path,
                              const ConvertOptions& options = {});

/// MODEL.json, the file beside MODEL.onnx that describes the model (docs/converter.md). It need not exist.
MPM_API std::string factsFile(const std::string& onnx_path);

/// The files that a model consists of: the ONNX file, its MODEL.json (factsFile(), listed even if it does not exist)
/// and the files of its external data. A program must not write its output over one of them. Throws mpm::Error when the
/// file is not ONNX.
MPM_API std::vector<std::string> modelFiles(const std::string& onnx_path);

}  // namespace mpm
