// SPDX-License-Identifier: Apache-2.0
#include "kernels/transformer_block.h"

#include <algorithm>
#include <vector>

#include "kernels/cpu/block_parts.h"
#include "kernels/scratch.h"

namespace mpm {
namespace {

// A tile of rows of a head of an image.
struct AttentionTask {
  int image;
  AttentionRows rows;
};

// Memory of a call, kept by the calling thread for the next call.
struct Workspace {
  Scratch<float> inputs, attended;
  std::vector<RowTile> tiles;
  std::vector<AttentionInput> images;
  std::vector<AttentionTask> tasks;
};

template <typename T>
MatrixView<T> rowsOf(const TokensView<T>& tokens, const RowTile& tile) {
  return tokens.data == nullptr ? MatrixView<T>() : tokens.image(tile.sequence).rowRange(tile.begin, tile.end);
}

}  // namespace

struct TransformerBlock::Impl {
  BlockPart part;
  bool parallel;
  int special, rotary_tables;
  PackedAttention attention;
  bool gated;
  Activation activation;
  PackedNorm norm2, hidden_norm;  // without weights: none
  PackedLinear fc1, fc2;

  explicit Impl(const TransformerBlockSpec& spec)
      : part(spec.part),
        parallel(spec.parallel),
        special(spec.special),
        rotary_tables(spec.rotary_tables),
        gated(spec.gated),
        activation(spec.activation) {
    if (attends()) attention = PackedAttention(spec);
    if (part == BlockPart::kAttention) return;
    norm2 = PackedNorm(spec.norm2, spec.dim);
    fc1 = PackedLinear(spec.fc1.weight, spec.fc1.bias, spec.precision);
    fc2 = PackedLinear(spec.fc2.weight, spec.fc2.bias, spec.precision);
    if (spec.mlp_norm) hidden_norm = PackedNorm(spec.mlp_norm_weights, fc2.in());
  }

  bool attends() const { return part != BlockPart::kMlp; }

  // Rows `begin` on of an image. `rotations`: of its rows behind the special ones, or without data.
  void project(MatrixView<const float> x, int begin, const AttentionInput& input, MatrixView<float> keys,
               MatrixView<const float> rotations) const {
    const MatrixView<float> all = wideScratch(x.rows, attention.qkv.out());
    const MatrixView<float> normalised = narrowScratch(x.rows, x.cols);
    attention.norm1.run(x, normalised);
    attention.qkv.run(normalised, all);
    const auto [q, k, v] = attention.operands(all);
    if (keys.data != nullptr) meanOverHeads(k, keys);
    if (const int first = std::max(begin, special), end = begin + x.rows; rotations.data != nullptr && first < end) {
      const auto rows = rotations.rowRange(first - special, end - special);
      for (const MatrixView<float>& turned : {q, k})
        rotate(turned.rowRange(first - begin, x.rows), attention.heads, rows, rotary_tables);
    }
    input.pack(begin, q, k, v, attention.scale);
  }

  void meanOverHeads(MatrixView<const float> k, MatrixView<float> mean) const {
    const int heads = attention.heads, head_dim = attention.head_dim;
    for (int i = 0; i < k.rows; ++i) {
      float* const to = std::copy_n(k.row(i), head_dim, mean.row(i)) - head_dim;
      for (int h = 1; h < heads; ++h)
        for (int c = 0; c < head_dim; ++c) to[c] += k.row(i)[h * head_dim + c];
      for (int c = 0; c < head_dim; ++c) to[c] /= static_cast<float>(heads);
    }
  }

  // y = x, plus what attention gave, plus the MLP: the parts that this block has. May change `attended`.
  void finish(MatrixView<const float> x, MatrixView<float> attended, MatrixView<float> y) const {
    if (attends())
      attention.addTo(x, attended, y);
    else
      copyRows(x, y);
    if (part == BlockPart::kAttention) return;
    const MatrixView<float> normalised = narrowScratch(x.rows, x.cols), wide = wideScratch(x.rows, fc1.out());
    norm2.run(parallel ? x : MatrixView<const float>(y), normalised);
    fc1.run(normalised, wide);
    fc2.run(hiddenOf(wide), y, true);
  }

  // The input of fc2, taken from the output of fc1.
  MatrixView<const float> hiddenOf(MatrixView<float> wide) const {
    const MatrixView<float> hidden(wide.data, wide.rows, fc2.in(), wide.stride);
    if (gated)
      activateGated(activation, wide);
    else
      activate(activation, hidden);
    if (!hidden_norm.weight.empty()) hidden_norm.run(hidden, hidden);
    return hidden;
  }
};

TransformerBlock::TransformerBlock(const TransformerBlockSpec& spec) : impl_(std::make_shared<const Impl>(spec)) {}

std::size_t TransformerBlock::keptSize(int capacity) const {
  const PackedAttention& attention = impl_->attention;
  return impl_->attends() ? AttentionInput::keptSize(capacity, attention.heads, attention.head_dim, attention.tiles)
                          : 0;
}

void TransformerBlock::run(TokensView<const float> x, const float* key_bias, TokensView<float> y,
                           const Parallel& parallel, TokensView<float> keys, MatrixView<const float> rotations,
                           const KeptKeys& kept) const {
  thread_local Workspace workspace;
  Workspace& w = workspace;
  const Impl& block = *impl_;
  w.tiles.clear();
  int rows_left = 0;
  for (int b = 0; b < x.batch; ++b) rows_left += x.rows[b];
  for (int b = 0; b < x.batch; ++b) {
    rows_left -= x.rows[b];
    appendTiles(b, x.rows[b], rows_left, parallel.threads(), w.tiles);
  }
  TokensView<float> attended;
  if (block.attends()) {
    w.images.clear();
    w.tasks.clear();
    std::size_t floats = 0;
    for (int b = 0; b < x.batch; ++b) floats += block.attention.inputSize(x.rows[b], kept);
    float* memory = w.inputs.atLeast(floats);
    for (int b = 0; b < x.batch; ++b) {
      const AttentionInput& input = w.images.emplace_back(block.attention.input(memory, x.rows[b], kept));
      memory += block.attention.inputSize(x.rows[b], kept);
      input.packBias(key_bias != nullptr ? key_bias + static_cast<std::ptrdiff_t>(b) * x.capacity : nullptr);
      for (int t = 0; t < input.tasks(); ++t) w.tasks.push_back({b, input.rowsOf(t)});
    }
    const int width = block.attention.width(), patches = x.capacity - block.special;
    const auto size = static_cast<std::size_t>(x.batch) * x.capacity;
    attended = {w.attended.atLeast(size * static_cast<std::size_t>(width)), x.batch, x.capacity, width, x.rows};
    parallel.run(static_cast<int>(w.tiles.size()), [&](int task) {
      const RowTile& tile = w.tiles[task];
      const int first = tile.sequence * patches;
      block.project(rowsOf(x, tile), tile.begin, w.images[tile.sequence], rowsOf(keys, tile),
                    rotations.data != nullptr ? rotations.rowRange(first, first + patches) : rotations);
    });
    const int value_tasks = w.images.empty() ? 0 : w.images.front().valueTasks();
    parallel.run(x.batch * value_tasks,
                 [&](int task) { w.images[task / value_tasks].finishValues(task % value_tasks); });
    parallel.run(static_cast<int>(w.tasks.size()), [&](int task) {
      const auto& [image, rows] = w.tasks[task];
      w.images[image].run(rows, attended.image(image));
    });
  }
  parallel.run(static_cast<int>(w.tiles.size()), [&](int task) {
    const RowTile& tile = w.tiles[task];
    block.finish(rowsOf(x, tile), rowsOf(attended, tile), rowsOf(y, tile));
  });
}

}  // namespace mpm
