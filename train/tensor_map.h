// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mpm::train {

/// A float32 tensor in host memory, row-major.
struct HostTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

/// Tensors by name; the names are those of Segmenter's and timm's own checkpoints.
using TensorMap = std::map<std::string, HostTensor>;

inline std::int64_t elements(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

}  // namespace mpm::train
