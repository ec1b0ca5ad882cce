// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace mpm {

/// State of the tokens of one image (docs/ops.md): the number of live image rows, the row of each patch, and the number
/// of patches in each row. Stored as floats, because blobs of OpenCV 4.x are float. Every count is exact up to 2^24
/// tokens.
///
/// A net that reuses rows of earlier frames (docs/reuse.md) also lists the rows that this frame computes: only these
/// are in the token blob. The other live rows are kept by the ops that need them, and a row of size 0 belongs to no
/// patch.
template <typename T>
struct TokenState {
  T* data = nullptr;
  int patches = 0;        ///< N
  T* computed = nullptr;  ///< {1 + N}: a count, then rows in ascending order. Null: all live rows are computed

  static std::size_t size(int patches) { return 1 + 2 * static_cast<std::size_t>(patches); }

  int live() const { return static_cast<int>(data[0]); }
  T* clusterOfToken() const { return data + 1; }         ///< {N}
  T* clusterSize() const { return data + 1 + patches; }  ///< {N}; the first live() count

  /// Image rows in the token blob.
  int computedRows() const { return computed != nullptr ? static_cast<int>(computed[0]) : live(); }
  /// Which live row the image row `i` of the token blob is.
  int computedRow(int i) const { return computed != nullptr ? static_cast<int>(computed[1 + i]) : i; }
};

/// Makes every patch its own cluster, and all of them computed.
void resetState(TokenState<float> state);

}  // namespace mpm
