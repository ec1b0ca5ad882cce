// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "tensor_map.h"

namespace mpm::train {

/// A file of the safetensors format: tensors by name and text by key. timm and Hugging Face read and write it too.
struct TensorFile {
  TensorMap tensors;  ///< F16 and BF16 are widened when read; written as F32
  std::map<std::string, std::string> metadata;
};

/// Throws mpm::Error naming the file when it cannot be read or is not what it claims to be.
TensorFile readTensorFile(const std::string& path);

/// Whole or not at all. Throws mpm::Error.
void writeTensorFile(const std::string& path, const TensorFile& file);

}  // namespace mpm::train
