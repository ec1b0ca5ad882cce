// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpm/export.hpp"
#include "mpm/model_info.hpp"
#include "mpm/options.hpp"

namespace mpm {

/// Reads a plain ViT ONNX (or a converted one) and says what it is. Loads external data; reads MODEL.json where it
/// exists. Throws mpm::Error when the file is not ONNX or the graph is not a plain pre-norm ViT.
MPM_API ModelInfo readModelInfo(const std::string& onnx_path, const ConvertOptions& options = {});

/// The ONNX file, serialised, whose encoder is made of ai.mpm ops; OpenCV reads it after registerLayers(). An already
/// converted model passes through as it is, unless `options` asks for something else than it was made with: error. What
/// is left at its default (plain attention, labels, fp32) asks for nothing.
/// Throws mpm::Error, naming the first node that does not fit and what was expected there.
/// Where `info` is given, it receives what was found, in the same pass.
MPM_API std::string convertModel(const std::string& onnx_path, const ConvertOptions& options = {},
                                 ModelInfo* info = nullptr);

/// What the model consists of, and an output must not replace: the ONNX file, MODEL.json whether it exists or not, the
/// files of its external data.
MPM_API std::vector<std::string> modelFiles(const std::string& onnx_path);

/// convertModel, then writeFileAtomically. Returns what was converted. Throws mpm::Error where the output would replace
/// one of modelFiles().
MPM_API ModelInfo convertFile(const std::string& onnx_path, const std::string& output_path,
                              const ConvertOptions& options = {});

}  // namespace mpm
