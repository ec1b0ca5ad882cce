// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/kept_rows.h"

#include "kernels/cuda/kernel.cuh"

namespace mpm::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / kWarp;

// One warp per row.
template <typename T>
__global__ void scatterRows(Places places, int columns, int stride, const T* from, T* kept) {
  const int i = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (i >= places.count) return;
  const bool moves = i >= places.special && places.computed != nullptr;
  const T* const row = rowOf(from, i, stride);
  T* const to = rowOf(kept, moves ? places.special + places.computed[i - places.special] : i, columns);
  for (int c = laneIndex(); c < columns; c += kWarp) to[c] = row[c];
}

}  // namespace

void keepRows(const Stream& stream, const Places& places, int columns, int stride, Number number, const void* from,
              void* kept) {
  if (places.count == 0) return;
  withNumber(number, [&](auto zero) {
    using T = decltype(zero);
    launch(scatterRows<T>, Grid{piecesOf(places.count, kWarps)}, kThreads, 0, stream, places, columns, stride,
           static_cast<const T*>(from), static_cast<T*>(kept));
  });
}

}  // namespace mpm::cuda
