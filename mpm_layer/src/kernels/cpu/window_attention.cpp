// SPDX-License-Identifier: Apache-2.0
#include "kernels/window_attention.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numbers>
#include <vector>

#include "kernels/cpu/block_parts.h"
#include "kernels/cpu/panels.h"
#include "kernels/scratch.h"

namespace mpm {
namespace {

// A PositionBias, times log2(e).
struct PackedPositionBias {
  int entries = 0;
  std::vector<float> table;
  std::vector<std::uint16_t> index;

  PackedPositionBias(const PositionBias& bias, int heads, int tokens)
      : entries(bias.entries), table(bias.table, bias.table + static_cast<std::ptrdiff_t>(heads) * bias.entries) {
    for (float& value : table) value *= std::numbers::log2e_v<float>;
    if (bias.index != nullptr) index.assign(bias.index, bias.index + static_cast<std::ptrdiff_t>(tokens) * tokens);
  }

  void biases(const AttentionRows& part, int tokens, float* to, std::ptrdiff_t stride) const {
    const float* const of_head = table.data() + static_cast<std::ptrdiff_t>(part.head) * entries;
    for (int i = 0; i < part.count; ++i, to += stride) {
      const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(part.begin + i) * tokens;
      if (index.empty()) {
        std::copy_n(of_head + first, tokens, to);
      } else {
        std::transform(index.data() + first, index.data() + first + tokens, to,
                       [&](std::uint16_t entry) { return of_head[entry]; });
      }
    }
  }
};

// RelativePositions as attention adds them: for queries that are times `scale` already.
class PackedRelativePositions {
 public:
  PackedRelativePositions() = default;
  PackedRelativePositions(const RelativePositions& positions, int head_dim, float scale)
      : height_(positions.height), width_(positions.width), head_dim_(head_dim) {
    const auto size = static_cast<std::size_t>(head_dim);
    std::vector<float> vectors;
    const auto append = [&](const float* table, int side) {
      for (int i = 2 * side - 1; i-- > 0;) {
        std::transform(table + i * head_dim, table + (i + 1) * head_dim, std::back_inserter(vectors),
                       [scale](float value) { return value / scale; });
      }
    };
    append(positions.rows, height_);
    append(positions.columns, width_);
    const int count = static_cast<int>(vectors.size() / size);
    float* const panels = panels_.atLeast(static_cast<std::size_t>(panelsFor(count)) * size * kPanel);
    for (int i = 0; i < count; i += kPanel) {
      const int taken = std::min(kPanel, count - i);
      packPanel(vectors.data() + static_cast<std::ptrdiff_t>(i) * head_dim, head_dim, taken, head_dim,
                panels + static_cast<std::ptrdiff_t>(i) * head_dim, 0);
      clearPanel(panels + static_cast<std::ptrdiff_t>(i) * head_dim, head_dim, taken);
    }
  }

  bool empty() const { return height_ == 0; }

  // biases[i * stride + j] = what the logit of query begin + i and key j gets more, for every key of the grid. queries
  // {at most kAttentionRows, head_dim}.
  void biases(MatrixView<const float> queries, int begin, float* biases, std::ptrdiff_t stride) const {
    thread_local Scratch<float> scratch;
    const int distances = 2 * height_ - 1, columns = panelsFor(distances + 2 * width_ - 1) * kPanel;
    float* const products = scratch.atLeast(static_cast<std::size_t>(kAttentionRows) * columns);
    const float* const panels = panels_.data();
    for (int j = 0; j < columns; j += kPanel) {
      panelProduct(queries.data, queries.stride, queries.rows, head_dim_,
                   panels + static_cast<std::ptrdiff_t>(j) * head_dim_, products + j, columns);
    }
    for (int i = 0; i < queries.rows; ++i) {
      const int y = (begin + i) / width_, x = (begin + i) % width_;
      const float* const of_query = products + static_cast<std::ptrdiff_t>(i) * columns;
      const float* const of_rows = of_query + height_ - 1 - y;
      const float* const of_columns = of_query + distances + width_ - 1 - x;
      float* to = biases + i * stride;
      for (int v = 0; v < height_; ++v, to += width_)
        for (int u = 0; u < width_; ++u) to[u] = of_rows[v] + of_columns[u];
    }
  }

 private:
  int height_ = 0, width_ = 0, head_dim_ = 0;
  // {panels, head_dim, kPanel}: rows, then columns, each from the largest distance to the smallest. So the positions of
  // the keys of one query are neighbours, in the order of the keys.
  Scratch<float> panels_;
};

// Memory of a call, kept by the calling thread for the next call.
struct Workspace {
  Scratch<float> inputs, attended;
  std::vector<RowTile> image_tiles, window_tiles;
  std::vector<AttentionInput> windows;
};

}  // namespace

struct WindowAttention::Impl {
  PackedAttention attention;
  PackedPositionBias position_bias;
  PackedRelativePositions relative_positions;
  int windows, tokens;
  std::vector<int> row_of;     // {windows, tokens}, -1 for padding
  std::vector<int> place_of;   // of each row of an image: where it is in row_of
  std::vector<float> padding;  // q, k and v of a row of padding

  explicit Impl(const WindowAttentionSpec& spec)
      : attention(spec),
        position_bias(spec.position_bias, spec.heads, spec.windows.tokens),
        windows(spec.windows.count),
        tokens(spec.windows.tokens),
        row_of(spec.windows.rows, spec.windows.rows + static_cast<std::ptrdiff_t>(windows) * tokens),
        place_of(row_of.size() - static_cast<std::size_t>(std::count(row_of.begin(), row_of.end(), -1))),
        padding(static_cast<std::size_t>(attention.qkv.out())) {
    for (std::size_t i = 0; i < row_of.size(); ++i)
      if (row_of[i] >= 0) place_of[row_of[i]] = static_cast<int>(i);
    attention.tiles = nullptr;  // they have one bias for all rows
    if (spec.qkv.bias != nullptr) std::copy_n(spec.qkv.bias, padding.size(), padding.begin());
    if (spec.relative_positions.height > 0)
      relative_positions = PackedRelativePositions(spec.relative_positions, spec.head_dim, spec.scale);
  }

  // Rows `begin` to `end` of a window of the image `x`.
  void project(MatrixView<const float> x, int window, int begin, int end, const AttentionInput& input) const {
    const int* const rows = row_of.data() + static_cast<std::ptrdiff_t>(window) * tokens;
    const MatrixView<float> normalised = narrowScratch(end - begin, x.cols),
                            all = wideScratch(end - begin, attention.qkv.out());
    int next = 0;
    for (int t = begin; t < end; ++t) {
      if (rows[t] < 0) continue;
      attention.norm1.run(x.rowRange(rows[t], rows[t] + 1), normalised.rowRange(next, next + 1));
      ++next;
    }
    if (next > 0) attention.qkv.run(normalised.rowRange(0, next), all.rowRange(0, next));
    for (int t = end; t-- > begin;) {  // from the last on, so that no row is overwritten before it is moved
      const float* const from = rows[t] < 0 ? padding.data() : all.row(--next);
      if (from != all.row(t - begin)) std::copy_n(from, all.cols, all.row(t - begin));
    }
    const auto [q, k, v] = attention.operands(all);
    input.pack(begin, q, k, v, attention.scale);
  }

  void attend(const AttentionInput& input, const AttentionRows& part, MatrixView<float> out) const {
    if (position_bias.entries == 0 && relative_positions.empty()) return input.run(part, out);
    thread_local Scratch<float> scratch;
    const std::ptrdiff_t stride = scoreStride(tokens);
    float* const biases = scratch.atLeast(static_cast<std::size_t>(kAttentionRows) * stride);
    for (int i = 0; i < part.count; ++i)
      std::copy(input.bias + tokens, input.bias + panelsFor(tokens) * kPanel, biases + i * stride + tokens);
    if (position_bias.entries > 0)
      position_bias.biases(part, tokens, biases, stride);
    else
      relative_positions.biases(input.queries(part), part.begin, biases, stride);
    input.run(part, out, biases);
  }

  // The output of attention for the rows `begin` to `end` of an image; `attended` holds all windows of the image.
  MatrixView<float> fromWindows(MatrixView<const float> attended, int begin, int end) const {
    const MatrixView<float> rows = narrowScratch(end - begin, attended.cols);
    for (int row = begin; row < end; ++row) std::copy_n(attended.row(place_of[row]), rows.cols, rows.row(row - begin));
    return rows;
  }
};

WindowAttention::WindowAttention(const WindowAttentionSpec& spec) : impl_(std::make_shared<const Impl>(spec)) {}

void WindowAttention::run(TokensView<const float> x, TokensView<float> y, const Parallel& parallel) const {
  thread_local Workspace workspace;
  Workspace& w = workspace;
  const Impl& block = *impl_;
  const int in_image = block.windows, windows = x.batch * in_image, tokens = block.tokens;
  const int rows = static_cast<int>(block.place_of.size()), threads = parallel.threads();
  w.image_tiles.clear();
  w.window_tiles.clear();
  w.windows.clear();
  for (int b = 0; b < x.batch; ++b) appendTiles(b, rows, (x.batch - 1 - b) * rows, threads, w.image_tiles);
  const std::size_t size = block.attention.inputSize(tokens);
  float* const memory = w.inputs.atLeast(static_cast<std::size_t>(windows) * size);
  for (int i = 0; i < windows; ++i) {
    appendTiles(i, tokens, (windows - 1 - i) * tokens, threads, w.window_tiles);
    w.windows.push_back(block.attention.input(memory + static_cast<std::size_t>(i) * size, tokens));
    w.windows.back().packBias(nullptr);
  }
  const int width = block.attention.width();
  float* const values = w.attended.atLeast(static_cast<std::size_t>(windows) * tokens * width);
  const MatrixView<float> attended(values, windows * tokens, width);
  const auto ofWindows = [&](int first, int count) {
    return attended.rowRange(first * tokens, (first + count) * tokens);
  };
  parallel.run(static_cast<int>(w.window_tiles.size()), [&](int task) {
    const auto [window, begin, end] = w.window_tiles[task];
    block.project(x.image(window / in_image), window % in_image, begin, end, w.windows[window]);
  });
  const int tasks = w.windows.empty() ? 0 : w.windows.front().tasks();
  parallel.run(windows * tasks, [&](int task) {
    const AttentionInput& input = w.windows[task / tasks];
    block.attend(input, input.rowsOf(task % tasks), ofWindows(task / tasks, 1));
  });
  parallel.run(static_cast<int>(w.image_tiles.size()), [&](int task) {
    const auto [image, begin, end] = w.image_tiles[task];
    block.attention.addTo(x.image(image).rowRange(begin, end),
                          block.fromWindows(ofWindows(image * in_image, in_image), begin, end),
                          y.image(image).rowRange(begin, end));
  });
}

}  // namespace mpm
