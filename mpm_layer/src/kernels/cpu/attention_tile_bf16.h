// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace mpm {

/// Two bf16 numbers that are neighbours in depth, as the multiply-add instructions take them.
struct Bf16Pair {
  std::uint16_t first, second;
};

/// True when the CPU has AVX512-BF16 and this build contains the code for it.
bool hasBf16AttentionTile();

constexpr int pairsFor(int count) { return (count + 1) / 2; }

/// Same as AttentionTile, with operands in bf16; logits, maxima, sums and the result in fp32.
struct AttentionTileBf16 {
  const Bf16Pair* q;  ///< {rows, pairsFor(head_dim)}, already times scale * log2(e)
  int rows;
  const Bf16Pair* k;  ///< {panels, pairsFor(head_dim), kPanel}
  const Bf16Pair* v;  ///< {pairsFor(keys), paddedHeadDim}: two keys of one column
  const float* bias;  ///< same as AttentionTile
  std::ptrdiff_t bias_stride;
  int keys;
  int head_dim;
  float* out;  ///< {rows, head_dim}
  std::ptrdiff_t out_stride;
};

/// `scratch`: attentionScratch() floats.
void attentionTileBf16(const AttentionTileBf16& tile, float* scratch);

}  // namespace mpm
