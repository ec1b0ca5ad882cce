// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace mpm {

/// Query rows that one task handles: their scores against 1025 keys are 100 KiB and stay in L2 beside a head's K and V.
constexpr int kAttentionRows = 24;

/// Rows of V are padded to this many floats, a multiple of every vector.
constexpr int paddedHeadDim(int head_dim) { return (head_dim + 15) / 16 * 16; }

/// Columns of the score scratch, padded past whole panels so that rows do not fall on one set of L1.
constexpr int scoreStride(int keys) { return (keys + 63) / 64 * 64 + 16; }

/// One head, a few query rows, all keys.
struct AttentionTile {
  const float* q;  ///< {rows, head_dim}, already times scale * log2(e)
  std::ptrdiff_t q_stride;
  int rows;
  const float* k;  ///< {panels, head_dim, kPanel}; columns past the last key are finite
  const float* v;  ///< {keys, paddedHeadDim}
  /// {panels * kPanel}: log2(e) * key bias, -infinity past the last key. Sums start from it, so adding it costs
  /// nothing.
  const float* bias;
  std::ptrdiff_t bias_stride;  ///< from row to row, a multiple of 16; 0: one bias for all rows
  int keys;
  float largest_key_square;  ///< of |k|^2 over the keys
  int head_dim;
  float* out;  ///< {rows, head_dim}
  std::ptrdiff_t out_stride;
};

/// Floats of scratch that attentionTile() needs, aligned to 64 bytes.
std::size_t attentionScratch(int keys, int head_dim);

/// The largest |row|^2 of x {rows, cols}; infinity when a row holds a NaN.
float largestSquare(const float* x, std::ptrdiff_t stride, int rows, int cols);

void attentionTile(const AttentionTile& tile, float* scratch);

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
