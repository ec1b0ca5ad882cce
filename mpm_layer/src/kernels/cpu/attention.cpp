// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention.h"

#include <algorithm>
#include <limits>
#include <numbers>

#include "kernels/cpu/attention_input.h"
#include "kernels/cpu/attention_tile.h"
#include "kernels/cpu/panels.h"
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

}  // namespace

std::size_t AttentionInput::size(int row_count, int head_count, int dim) {
  return querySize(row_count, head_count, dim) + keySize(row_count, head_count, dim) +
         valueSize(row_count, head_count, dim) + static_cast<std::size_t>(panelsFor(row_count)) * kPanel;
}

AttentionInput::AttentionInput(float* memory, int row_count, int head_count, int dim)
    : rows(row_count),
      heads(head_count),
      head_dim(dim),
      q(memory),
      k(q + querySize(rows, heads, head_dim)),
      v(k + keySize(rows, heads, head_dim)),
      bias(v + valueSize(rows, heads, head_dim)) {}

void AttentionInput::pack(int begin, MatrixView<const float> q_rows, MatrixView<const float> k_rows,
                          MatrixView<const float> v_rows, float scale) const {
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

void AttentionInput::packBias(const float* key_bias) const {
  for (int j = 0; j < rows; ++j) bias[j] = key_bias != nullptr ? key_bias[j] * kLog2E : 0.0f;
  std::fill(bias + rows, bias + panelsFor(rows) * kPanel, -std::numeric_limits<float>::infinity());
}

int AttentionInput::tasks() const { return heads * ((rows + kAttentionRows - 1) / kAttentionRows); }

void AttentionInput::run(int task, MatrixView<float> out) const {
  thread_local Scratch<float> scratch;
  const int tiles = (rows + kAttentionRows - 1) / kAttentionRows;
  const int h = task / tiles;
  const int begin = task % tiles * kAttentionRows;
  const std::ptrdiff_t head_row = static_cast<std::ptrdiff_t>(h) * rows;
  attentionTile({.q = q + (head_row + begin) * head_dim,
                 .q_stride = head_dim,
                 .rows = std::min(kAttentionRows, rows - begin),
                 .k = k + static_cast<std::ptrdiff_t>(h) * panelsFor(rows) * head_dim * kPanel,
                 .v = v + head_row * paddedHeadDim(head_dim),
                 .bias = bias,
                 .keys = rows,
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
