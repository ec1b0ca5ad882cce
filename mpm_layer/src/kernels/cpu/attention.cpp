// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <numbers>

#include "kernels/cpu/attention_input.h"
#include "kernels/cpu/attention_tile.h"
#include "kernels/cpu/attention_tile_bf16.h"
#include "kernels/cpu/panels.h"
#include "kernels/cpu/rounding.h"
#include "kernels/scratch.h"

namespace mpm {
namespace {

constexpr float kLog2E = std::numbers::log2e_v<float>;

std::size_t roundUp(std::size_t count) { return (count + 15) / 16 * 16; }

std::size_t querySize(int rows, int heads, int head_dim) {
  return roundUp(static_cast<std::size_t>(heads) * static_cast<std::size_t>(rows) * static_cast<std::size_t>(head_dim));
}

std::size_t keySize(int rows, int heads, int head_dim) {
  return static_cast<std::size_t>(heads) * static_cast<std::size_t>(panelsFor(rows)) *
         static_cast<std::size_t>(head_dim) * kPanel;
}

std::size_t valueSize(int rows, int heads, int head_dim) {
  return static_cast<std::size_t>(heads) * static_cast<std::size_t>(rows) *
         static_cast<std::size_t>(paddedHeadDim(head_dim));
}

// Rows of k that share one largest norm. Tasks pack this many rows at a time.
constexpr int kUnit = 16;

int unitsFor(int rows) { return (rows + kUnit - 1) / kUnit; }

}  // namespace

std::size_t AttentionInput::size(int row_count, int head_count, int dim) {
  return querySize(row_count, head_count, dim) + keySize(row_count, head_count, dim) +
         valueSize(row_count, head_count, dim) + static_cast<std::size_t>(panelsFor(row_count)) * kPanel +
         roundUp(static_cast<std::size_t>(head_count) * static_cast<std::size_t>(unitsFor(row_count)));
}

AttentionInput::AttentionInput(float* memory, int row_count, int head_count, int dim, bool in_bf16)
    : rows(row_count),
      heads(head_count),
      head_dim(dim),
      bf16(in_bf16),
      q(memory),
      k(q + querySize(rows, heads, head_dim)),
      v(k + keySize(rows, heads, head_dim)),
      bias(v + valueSize(rows, heads, head_dim)),
      key_squares(bias + panelsFor(rows) * kPanel) {}

void AttentionInput::pack(int begin, MatrixView<const float> q_rows, MatrixView<const float> k_rows,
                          MatrixView<const float> v_rows, float scale) const {
  if (bf16) return packBf16(begin, q_rows, k_rows, v_rows, scale);
  const int n = q_rows.rows;
  const int end = begin + n;
  const int v_stride = paddedHeadDim(head_dim);
  const float factor = scale * kLog2E;
  for (int h = 0; h < heads; ++h) {
    const int column = h * head_dim;
    for (int i = 0; i < n; ++i) {
      const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(h) * rows + begin + i;
      const float* from = q_rows.row(i) + column;
      std::transform(from, from + head_dim, q + row * head_dim, [factor](float x) { return x * factor; });
      float* to = std::copy_n(v_rows.row(i) + column, head_dim, v + row * v_stride);
      std::fill_n(to, v_stride - head_dim, 0.0f);
    }
    for (int i = begin; i < end; i += kUnit)
      key_squares[h * unitsFor(rows) + i / kUnit] =
          largestSquare(k_rows.row(i - begin) + column, k_rows.stride, std::min(kUnit, end - i), head_dim);
    for (int i = begin; i < end;) {
      const int in_panel = i % kPanel;
      const int take = std::min(kPanel - in_panel, end - i);
      float* panel = k + (static_cast<std::ptrdiff_t>(h) * panelsFor(rows) + i / kPanel) * head_dim * kPanel;
      packPanel(k_rows.row(i - begin) + column, k_rows.stride, take, head_dim, panel, in_panel);
      if (i + take == rows) clearPanel(panel, head_dim, in_panel + take);
      i += take;
    }
  }
}

void AttentionInput::packBf16(int begin, MatrixView<const float> q_rows, MatrixView<const float> k_rows,
                              MatrixView<const float> v_rows, float scale) const {
  thread_local Scratch<float> scaled;
  thread_local Scratch<std::uint16_t> halves;
  const int n = q_rows.rows;
  const int end = begin + n;
  const int depth = pairsFor(head_dim);
  const int v_stride = paddedHeadDim(head_dim);
  const float factor = scale * kLog2E;
  float* const row = scaled.atLeast(static_cast<std::size_t>(head_dim));
  std::uint16_t* const rounded =
      halves.atLeast(2 * static_cast<std::size_t>(kPanel) * static_cast<std::size_t>(v_stride));
  auto* const q_halves = reinterpret_cast<std::uint16_t*>(q);
  auto* const v_halves = reinterpret_cast<std::uint16_t*>(v);
  // An odd depth is filled up with a zero.
  const auto toPairs = [&](const float* from, std::uint16_t* to) {
    to[2 * depth - 1] = 0;
    toBf16(from, to, head_dim);
  };
  for (int h = 0; h < heads; ++h) {
    const int column = h * head_dim;
    for (int i = 0; i < n; ++i) {
      const float* from = q_rows.row(i) + column;
      std::transform(from, from + head_dim, row, [factor](float x) { return x * factor; });
      toPairs(row, q_halves + (static_cast<std::ptrdiff_t>(h) * rows + begin + i) * 2 * depth);
    }
    for (int i = 0; i < n; i += 2) {
      std::uint16_t* const first = rounded;
      std::uint16_t* const second = rounded + v_stride;
      std::fill(first, second + v_stride, std::uint16_t{0});
      toBf16(v_rows.row(i) + column, first, head_dim);
      if (i + 1 < n) toBf16(v_rows.row(i + 1) + column, second, head_dim);
      std::uint16_t* to = v_halves + (static_cast<std::ptrdiff_t>(h) * pairsFor(rows) + (begin + i) / 2) * 2 * v_stride;
      for (int c = 0; c < v_stride; ++c) {
        to[2 * c] = first[c];
        to[2 * c + 1] = second[c];
      }
    }
    for (int i = begin; i < end;) {
      const int in_panel = i % kPanel;
      const int take = std::min(kPanel - in_panel, end - i);
      float* panel = k + (static_cast<std::ptrdiff_t>(h) * panelsFor(rows) + i / kPanel) * depth * kPanel;
      for (int r = 0; r < take; ++r)
        toPairs(k_rows.row(i - begin + r) + column, rounded + static_cast<std::ptrdiff_t>(r) * 2 * depth);
      // A pair is as wide as a float, and packing only moves it.
      packPanel(reinterpret_cast<const float*>(rounded), depth, take, depth, panel, in_panel);
      if (i + take == rows) clearPanel(panel, depth, in_panel + take);
      i += take;
    }
  }
}

void AttentionInput::packBias(const float* key_bias) const {
  for (int j = 0; j < rows; ++j) bias[j] = key_bias != nullptr ? key_bias[j] * kLog2E : 0.0f;
  std::fill(bias + rows, bias + panelsFor(rows) * kPanel, -std::numeric_limits<float>::infinity());
}

PackedPositionBias::PackedPositionBias(const PositionBias& bias, int heads)
    : tokens(bias.tokens), entries(bias.entries), table(static_cast<std::size_t>(heads) * bias.entries) {
  std::transform(bias.table, bias.table + table.size(), table.begin(), [](float value) { return value * kLog2E; });
  const std::size_t pairs = static_cast<std::size_t>(tokens) * static_cast<std::size_t>(tokens);
  if (bias.index != nullptr) index.assign(bias.index, bias.index + pairs);
}

const float* AttentionInput::tileBias(int head, int begin, int count) const {
  thread_local Scratch<float> scratch;
  const std::ptrdiff_t stride = scoreStride(rows);
  float* const biases = scratch.atLeast(static_cast<std::size_t>(kAttentionRows) * static_cast<std::size_t>(stride));
  for (int i = 0; i < count; ++i) std::copy(bias + rows, bias + panelsFor(rows) * kPanel, biases + i * stride + rows);
  if (relative_positions != nullptr) {
    const MatrixView<const float> queries = tileQueries(head, begin, count);
    relative_positions->add(queries, begin, bias, biases, stride);
    return biases;
  }
  const float* table = position_bias->table.data() + static_cast<std::ptrdiff_t>(head) * position_bias->entries;
  for (int i = 0; i < count; ++i) {
    float* const to = biases + i * stride;
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(begin + i) * rows;
    if (position_bias->index.empty()) {
      for (int j = 0; j < rows; ++j) to[j] = bias[j] + table[first + j];
    } else {
      const std::uint16_t* const index = position_bias->index.data() + first;
      for (int j = 0; j < rows; ++j) to[j] = bias[j] + table[index[j]];
    }
  }
  return biases;
}

MatrixView<const float> AttentionInput::tileQueries(int head, int begin, int count) const {
  const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(head) * rows + begin;
  if (!bf16) return {q + first * head_dim, count, head_dim};
  thread_local Scratch<float> scratch;
  const int width = 2 * pairsFor(head_dim);
  float* const queries = scratch.atLeast(static_cast<std::size_t>(kAttentionRows) * static_cast<std::size_t>(width));
  const auto* const halves = reinterpret_cast<const std::uint16_t*>(q) + first * width;
  std::transform(halves, halves + static_cast<std::ptrdiff_t>(count) * width, queries,
                 [](std::uint16_t half) { return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16); });
  return {queries, count, head_dim, width};
}

int AttentionInput::tasks() const { return heads * ((rows + kAttentionRows - 1) / kAttentionRows); }

void AttentionInput::run(int task, MatrixView<float> out) const {
  thread_local Scratch<float> scratch;
  const int tiles = (rows + kAttentionRows - 1) / kAttentionRows;
  const int h = task / tiles;
  const int begin = task % tiles * kAttentionRows;
  const std::ptrdiff_t head_row = static_cast<std::ptrdiff_t>(h) * rows;
  const int count = std::min(kAttentionRows, rows - begin);
  const float* const biases = rowBiases() ? tileBias(h, begin, count) : bias;
  const std::ptrdiff_t bias_stride = rowBiases() ? scoreStride(rows) : 0;
  if (bf16) {
    const int depth = pairsFor(head_dim);
    return attentionTileBf16(
        {.q = reinterpret_cast<const Bf16Pair*>(q) + (head_row + begin) * depth,
         .rows = count,
         .k = reinterpret_cast<const Bf16Pair*>(k) + static_cast<std::ptrdiff_t>(h) * panelsFor(rows) * depth * kPanel,
         .v = reinterpret_cast<const Bf16Pair*>(v) +
              static_cast<std::ptrdiff_t>(h) * pairsFor(rows) * paddedHeadDim(head_dim),
         .bias = biases,
         .bias_stride = bias_stride,
         .keys = rows,
         .head_dim = head_dim,
         .out = out.row(begin) + h * head_dim,
         .out_stride = out.stride},
        scratch.atLeast(attentionScratch(rows, head_dim)));
  }
  const float* squares = key_squares + h * unitsFor(rows);
  attentionTile({.q = q + (head_row + begin) * head_dim,
                 .q_stride = head_dim,
                 .rows = count,
                 .k = k + static_cast<std::ptrdiff_t>(h) * panelsFor(rows) * head_dim * kPanel,
                 .v = v + head_row * paddedHeadDim(head_dim),
                 .bias = biases,
                 .bias_stride = bias_stride,
                 .keys = rows,
                 .largest_key_square = *std::max_element(squares, squares + unitsFor(rows)),
                 .head_dim = head_dim,
                 .out = out.row(begin) + h * head_dim,
                 .out_stride = out.stride},
                scratch.atLeast(attentionScratch(rows, head_dim)));
}

void attention(MatrixView<const float> q, MatrixView<const float> k, MatrixView<const float> v, int heads, float scale,
               const float* key_bias, MatrixView<float> out, const Parallel& parallel) {
  if (q.rows == 0) return;
  constexpr int kPackRows = 128;
  thread_local Scratch<float> memory;
  const int head_dim = q.cols / heads;
  const AttentionInput input(memory.atLeast(AttentionInput::size(q.rows, heads, head_dim)), q.rows, heads, head_dim);
  input.packBias(key_bias);
  parallel.run((q.rows + kPackRows - 1) / kPackRows, [&](int task) {
    const int begin = task * kPackRows;
    const int end = std::min(begin + kPackRows, q.rows);
    input.pack(begin, q.rowRange(begin, end), k.rowRange(begin, end), v.rowRange(begin, end), scale);
  });
  parallel.run(input.tasks(), [&](int task) { input.run(task, out); });
}

}  // namespace mpm
