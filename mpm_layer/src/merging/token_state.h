// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace mpm {

/// State of the tokens of one image (docs/ops.md): the number of live image rows, the row of each patch, and the number
/// of patches in each row. Stored as floats, because blobs of OpenCV 4.x are float. Every count is exact up to 2^24
/// tokens.
template <typename T>
struct TokenState {
  T* data = nullptr;
  int patches = 0;  ///< N

  static std::size_t size(int patches) { return 1 + 2 * static_cast<std::size_t>(patches); }

  int live() const { return static_cast<int>(data[0]); }
  T* clusterOfToken() const { return data + 1; }         ///< {N}
  T* clusterSize() const { return data + 1 + patches; }  ///< {N}; the first live() count
};

/// Makes every patch its own cluster.
void resetState(TokenState<float> state);

}  // namespace mpm
