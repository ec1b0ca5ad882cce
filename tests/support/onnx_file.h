// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <fstream>
#include <stdexcept>

#include "mpm/convert.hpp"

namespace mpm::test {

inline onnx::ModelProto modelAt(const std::string& path) {
  onnx::ModelProto model;
  std::ifstream file(path, std::ios::binary);
  if (!model.ParseFromIstream(&file)) throw std::runtime_error("no ONNX in " + path);
  return model;
}

/// What the converter makes of the model at `path`.
inline onnx::ModelProto convertedModel(const std::string& path, const ConvertOptions& options = {}) {
  onnx::ModelProto model;
  if (!model.ParseFromString(convertModel(path, options).bytes)) throw std::runtime_error("no ONNX of " + path);
  return model;
}

}  // namespace mpm::test
