// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/elementwise.h"

namespace mpm::cuda {

/// The rows of one image that a call has, among all of its rows: `special` rows in front, then those of `computed`
/// {count - special}, on the device, ascending and counted from the first row behind the special ones. Null: the first.
struct Places {
  int count = 0;
  int special = 0;
  const int* computed = nullptr;

  bool operator==(const Places&) const = default;
};

/// Rows of a frame take their places among those of earlier frames (docs/reuse.md): the first `columns` of each row of
/// `from`, whose rows are `stride` apart, go to kept {rows, columns}.
void keepRows(const Stream& stream, const Places& places, int columns, int stride, Number number, const void* from,
              void* kept);

}  // namespace mpm::cuda
