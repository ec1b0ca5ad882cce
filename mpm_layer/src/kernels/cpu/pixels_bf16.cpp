// SPDX-License-Identifier: Apache-2.0
// Convolutions in bf16 on AVX512-BF16, from pixels as they lie: no row of gathered pixels is written.
#include "kernels/cpu/tiles.h"

#include "kernels/cpu/row_groups.h"
#include "kernels/instruction_set.h"

#if defined(__x86_64__)
#include "kernels/cpu/avx512_bf16-inl.h"

namespace mpm {
namespace {

constexpr int kRows = kTileRows;

template <int V, std::size_t... J>
MPM_INLINE void clearRow(__m512 (&sums)[V], std::index_sequence<J...>) {
  ((sums[J] = _mm512_setzero_ps()), ...);
}

template <int V, std::size_t... J>
MPM_INLINE void takeRow(const __m512 (&sums)[V], const float* bias, bool accumulate, float* y,
                        std::index_sequence<J...>) {
  __m512 values[] = {_mm512_add_ps(sums[J], _mm512_loadu_ps(bias + J * kLanes))...};
  if (accumulate) ((values[J] = _mm512_add_ps(_mm512_loadu_ps(y + J * kLanes), values[J])), ...);
  (_mm512_storeu_ps(y + J * kLanes, values[J]), ...);
}

template <int V, std::size_t... I>
MPM_AVX512_BF16 void multiplyTaps(const PixelRows& x, const std::uint32_t* w, const TileOutput& out,
                                  std::index_sequence<I...>) {
  Tile<kRows, V> tile;
  (clearRow<V>(tile.at[I], std::make_index_sequence<V>()), ...);
  for (int t = 0; t < x.taps; ++t, w += static_cast<std::ptrdiff_t>(x.words) * V * kLanes)
    multiply<kRows, V>(x.first + x.offsets[t], x.words, w, V * kLanes, x.words, tile);
  (takeRow<V>(tile.at[I], out.bias + static_cast<std::ptrdiff_t>(I) * out.bias_stride, out.accumulate, out.y.row(I),
              std::make_index_sequence<V>()),
   ...);
}

void multiplyPixels(const PixelRows& x, const std::uint32_t* w, int vectors, const TileOutput& out) {
  const auto rows = std::make_index_sequence<kRows>();
  if (vectors == 1) return multiplyTaps<1>(x, w, out, rows);
  if (vectors == 2) return multiplyTaps<2>(x, w, out, rows);
  if (vectors == 3) return multiplyTaps<3>(x, w, out, rows);
  multiplyTaps<4>(x, w, out, rows);
}

const TileKernel kPixels{.precision = Precision::kBf16,
                         .rows = kRows,
                         .columns = kTileVectors * kLanes,
                         .lanes = kLanes,
                         .max_words = 0,
                         .offset = false,
                         .max_w = 0,
                         .multiply = nullptr,
                         .multiply_pixels = multiplyPixels};

}  // namespace

const TileKernel* pixelsBf16Kernel() { return cpuHasAvx512Bf16() ? &kPixels : nullptr; }

}  // namespace mpm

#else

namespace mpm {

const TileKernel* pixelsBf16Kernel() { return nullptr; }

}  // namespace mpm
#endif
