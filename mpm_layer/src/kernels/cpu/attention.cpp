// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "kernels/cpu/attention_input.h"
#include "kernels/cpu/attention_tile.h"
#include "kernels/cpu/panels.h"
#include "kernels/cpu/rounding.h"
#include "kernels/scratch.h"

namespace mpm {
namespace {

std::size_t roundUp(std::size_t count) { return (count + 15) / 16 * 16; }

std::size_t querySize(int rows, int heads, int head_dim) {
  return roundUp(static_cast<std::size_t>(heads) * rows * head_dim);
}

std::size_t keySize(int rows, int heads, int head_dim) {
  return static_cast<std::size_t>(heads) * panelsFor(rows) * static_cast<std::size_t>(head_dim) * kPanel;
}

std::size_t valueSize(int rows, int heads, int head_dim) {
  return static_cast<std::size_t>(heads) * rows * paddedHeadDim(head_dim);
}

}  // namespace

std::size_t AttentionInput::keptSize(int capacity, int head_count, int dim, const TileKernel* with_tiles) {
  if (with_tiles != nullptr)
    return AttentionInput(nullptr, capacity, head_count, dim, false, {}, with_tiles).placeTiles(nullptr, nullptr).kept;
  return keySize(capacity, head_count, dim) + valueSize(capacity, head_count, dim) +
         roundUp(static_cast<std::size_t>(head_count) * capacity);
}

std::size_t AttentionInput::size(int row_count, int head_count, int dim, const KeptKeys& kept,
                                 const TileKernel* with_tiles) {
  const bool keeps = kept.memory != nullptr;
  if (with_tiles != nullptr) {
    const Sizes sizes =
        AttentionInput(nullptr, row_count, head_count, dim, false, kept, with_tiles).placeTiles(nullptr, nullptr);
    return sizes.own + (keeps ? 0 : sizes.kept);
  }
  return querySize(row_count, head_count, dim) + (keeps ? 0 : keptSize(row_count, head_count, dim)) +
         static_cast<std::size_t>(panelsFor(keeps ? kept.rows : row_count)) * kPanel;
}

AttentionInput::AttentionInput(float* memory, int row_count, int head_count, int dim, bool in_bf16,
                               const KeptKeys& kept, const TileKernel* with_tiles)
    : rows(row_count),
      keys(kept.memory != nullptr ? kept.rows : row_count),
      capacity(kept.memory != nullptr ? kept.capacity : row_count),
      heads(head_count),
      head_dim(dim),
      tiles(with_tiles),
      bf16(in_bf16),
      places(kept.places),
      q(memory),
      k(kept.memory != nullptr ? kept.memory : q + querySize(rows, heads, head_dim)),
      v(k + keySize(capacity, heads, head_dim)),
      key_squares(v + valueSize(capacity, heads, head_dim)),
      bias(kept.memory != nullptr ? q + querySize(rows, heads, head_dim) : k + keptSize(capacity, heads, head_dim)) {
  if (tiles != nullptr && memory != nullptr) placeTiles(memory, kept.memory);
}

template <class Row>
void AttentionInput::packKeys(int h, int begin, int end, int depth, Row row) const {
  for (int i = begin, take = 1; i < end; i += take) {
    const int place = placeOf(i), in_panel = place % kPanel;
    for (take = 1; take < kPanel - in_panel && i + take < end && placeOf(i + take) == place + take;) ++take;
    float* panel = k + (static_cast<std::ptrdiff_t>(h) * panelsFor(capacity) + place / kPanel) * depth * kPanel;
    row(i, take, panel, in_panel);
    if (place + take == keys) clearPanel(panel, depth, in_panel + take);
  }
}

void AttentionInput::pack(int begin, MatrixView<const float> q_rows, MatrixView<const float> k_rows,
                          MatrixView<const float> v_rows, float scale) const {
  if (tiles != nullptr) return packTiles(begin, q_rows, k_rows, v_rows, scale);
  if (bf16) return packBf16(begin, q_rows, k_rows, v_rows, scale);
  const int n = q_rows.rows;
  const int v_stride = paddedHeadDim(head_dim);
  const float factor = scale * kLog2E;
  for (int h = 0; h < heads; ++h) {
    const int column = h * head_dim;
    for (int i = 0; i < n; ++i) {
      const float* from = q_rows.row(i) + column;
      std::transform(from, from + head_dim, q + (static_cast<std::ptrdiff_t>(h) * rows + begin + i) * head_dim,
                     [factor](float x) { return x * factor; });
      const std::ptrdiff_t place = static_cast<std::ptrdiff_t>(h) * capacity + placeOf(begin + i);
      float* to = std::copy_n(v_rows.row(i) + column, head_dim, v + place * v_stride);
      std::fill_n(to, v_stride - head_dim, 0.0f);
      key_squares[place] = largestSquare(k_rows.row(i) + column, k_rows.stride, 1, head_dim);
    }
    packKeys(h, begin, begin + n, head_dim, [&](int i, int take, float* panel, int in_panel) {
      packPanel(k_rows.row(i - begin) + column, k_rows.stride, take, head_dim, panel, in_panel);
    });
  }
}

void AttentionInput::packBf16(int begin, MatrixView<const float> q_rows, MatrixView<const float> k_rows,
                              MatrixView<const float> v_rows, float scale) const {
  thread_local Scratch<float> scaled;
  thread_local Scratch<std::uint16_t> halves;
  const int n = q_rows.rows;
  const int depth = pairsFor(head_dim);
  const int v_stride = paddedHeadDim(head_dim);
  const float factor = scale * kLog2E;
  float* const row = scaled.atLeast(head_dim);
  std::uint16_t* const rounded = halves.atLeast(2 * static_cast<std::size_t>(kPanel) * v_stride);
  auto* const q_halves = reinterpret_cast<std::uint16_t*>(q);
  auto* const v_halves = reinterpret_cast<std::uint16_t*>(v);
  // An odd depth is filled up with a zero.
  const auto toPairs = [&](const float* from, std::uint16_t* to) {
    to[2 * depth - 1] = 0;
    toBf16(from, to, head_dim);
  };
  // Two neighbouring rows of v share a row of pairs.
  const auto valuePairs = [&](int h, int place) {
    return v_halves + (static_cast<std::ptrdiff_t>(h) * pairsFor(capacity) + place / 2) * 2 * v_stride;
  };
  for (int h = 0; h < heads; ++h) {
    const int column = h * head_dim;
    for (int i = 0; i < n; ++i) {
      const float* from = q_rows.row(i) + column;
      std::transform(from, from + head_dim, row, [factor](float x) { return x * factor; });
      toPairs(row, q_halves + (static_cast<std::ptrdiff_t>(h) * rows + begin + i) * 2 * depth);
    }
    for (int i = 0; i < n; ++i) {
      const int place = placeOf(begin + i);
      std::fill_n(rounded, v_stride, std::uint16_t{0});
      toBf16(v_rows.row(i) + column, rounded, head_dim);
      std::uint16_t* const to = valuePairs(h, place);
      const bool alone = place % 2 == 0 && place + 1 == keys;
      for (int c = 0; c < v_stride; ++c) {
        to[2 * c + place % 2] = rounded[c];
        if (alone) to[2 * c + 1] = 0;
      }
    }
    packKeys(h, begin, begin + n, depth, [&](int i, int take, float* panel, int in_panel) {
      for (int r = 0; r < take; ++r)
        toPairs(k_rows.row(i - begin + r) + column, rounded + static_cast<std::ptrdiff_t>(r) * 2 * depth);
      // A pair is as wide as a float, and packing only moves it.
      packPanel(reinterpret_cast<const float*>(rounded), depth, take, depth, panel, in_panel);
    });
  }
}

void AttentionInput::packBias(const float* key_bias) const {
  for (int j = 0; j < keys; ++j) bias[j] = key_bias != nullptr ? key_bias[j] * kLog2E : 0.0f;
  const int all = tiles != nullptr ? tiles->panelsFor(keys) * tiles->columns : panelsFor(keys) * kPanel;
  std::fill(bias + keys, bias + all, -std::numeric_limits<float>::infinity());
}

MatrixView<const float> AttentionInput::queries(const AttentionRows& part) const {
  const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(part.head) * rows + part.begin;
  if (!bf16) return {q + first * head_dim, part.count, head_dim};
  thread_local Scratch<float> scratch;
  const int width = 2 * pairsFor(head_dim);
  float* const queries = scratch.atLeast(static_cast<std::size_t>(kAttentionRows) * width);
  const auto* const halves = reinterpret_cast<const std::uint16_t*>(q) + first * width;
  std::transform(halves, halves + static_cast<std::ptrdiff_t>(part.count) * width, queries,
                 [](std::uint16_t half) { return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16); });
  return {queries, part.count, head_dim, width};
}

int AttentionInput::tasks() const { return heads * ((rows + kAttentionRows - 1) / kAttentionRows); }

AttentionRows AttentionInput::rowsOf(int task) const {
  const int tiles_of_head = (rows + kAttentionRows - 1) / kAttentionRows, begin = task % tiles_of_head * kAttentionRows;
  return {task / tiles_of_head, begin, std::min(kAttentionRows, rows - begin)};
}

void AttentionInput::run(const AttentionRows& part, MatrixView<float> out, const float* biases) const {
  if (tiles != nullptr) return runTiles(part, out);
  thread_local Scratch<float> scratch;
  const auto [h, begin, count] = part;
  const std::ptrdiff_t first_query = static_cast<std::ptrdiff_t>(h) * rows + begin;
  const std::ptrdiff_t bias_stride = biases != nullptr ? scoreStride(keys) : 0;
  if (biases == nullptr) biases = bias;
  if (bf16) {
    const int depth = pairsFor(head_dim);
    return attentionTileBf16({.q = reinterpret_cast<const Bf16Pair*>(q) + first_query * depth,
                              .rows = count,
                              .k = reinterpret_cast<const Bf16Pair*>(k) +
                                   static_cast<std::ptrdiff_t>(h) * panelsFor(capacity) * depth * kPanel,
                              .v = reinterpret_cast<const Bf16Pair*>(v) +
                                   static_cast<std::ptrdiff_t>(h) * pairsFor(capacity) * paddedHeadDim(head_dim),
                              .bias = biases,
                              .bias_stride = bias_stride,
                              .keys = keys,
                              .head_dim = head_dim,
                              .out = out.row(begin) + h * head_dim,
                              .out_stride = out.stride},
                             scratch.atLeast(attentionScratch(keys, head_dim)));
  }
  const std::ptrdiff_t head = static_cast<std::ptrdiff_t>(h) * capacity;
  attentionTile({.q = q + first_query * head_dim,
                 .q_stride = head_dim,
                 .rows = count,
                 .k = k + static_cast<std::ptrdiff_t>(h) * panelsFor(capacity) * head_dim * kPanel,
                 .v = v + head * paddedHeadDim(head_dim),
                 .bias = biases,
                 .bias_stride = bias_stride,
                 .keys = keys,
                 .largest_key_square = *std::max_element(key_squares + head, key_squares + head + keys),
                 .head_dim = head_dim,
                 .out = out.row(begin) + h * head_dim,
                 .out_stride = out.stride},
                scratch.atLeast(attentionScratch(keys, head_dim)));
}

void attention(MatrixView<const float> q, MatrixView<const float> k, MatrixView<const float> v, int heads, float scale,
               const float* key_bias, MatrixView<float> out, const Parallel& parallel) {
  if (q.rows == 0) return;
  constexpr int kPackRows = 128;
  thread_local Scratch<float> memory;
  const int head_dim = q.cols / heads;
  const TileKernel* const kernel = attentionTiles(Precision::kFp32);
  const AttentionInput input(memory.atLeast(AttentionInput::size(q.rows, heads, head_dim, {}, kernel)), q.rows, heads,
                             head_dim, false, {}, kernel);
  input.packBias(key_bias);
  runPieces(parallel, q.rows, kPackRows, [&](int begin, int end) {
    input.pack(begin, q.rowRange(begin, end), k.rowRange(begin, end), v.rowRange(begin, end), scale);
  });
  parallel.run(input.valueTasks(), [&](int task) { input.finishValues(task); });
  parallel.run(input.tasks(), [&](int task) { input.run(input.rowsOf(task), out); });
}

}  // namespace mpm
