// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/relative_positions.h"

#include <algorithm>
#include <vector>

#include "kernels/cpu/attention_tile.h"
#include "kernels/cpu/panels.h"

namespace mpm {

PackedRelativePositions::PackedRelativePositions(const RelativePositions& positions, int head_dim, float scale)
    : height_(positions.height), width_(positions.width), head_dim_(head_dim) {
  const auto size = static_cast<std::size_t>(head_dim);
  std::vector<float> vectors;
  const auto append = [&](const float* table, int side) {
    for (int i = 2 * side - 1; i-- > 0;)
      std::transform(table + i * head_dim, table + (i + 1) * head_dim, std::back_inserter(vectors),
                     [scale](float value) { return value / scale; });
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

void PackedRelativePositions::biases(MatrixView<const float> queries, int begin, float* biases,
                                     std::ptrdiff_t stride) const {
  thread_local Scratch<float> scratch;
  const int distances = 2 * height_ - 1, columns = panelsFor(distances + 2 * width_ - 1) * kPanel;
  float* const products = scratch.atLeast(static_cast<std::size_t>(kAttentionRows) * columns);
  const float* const panels = panels_.data();
  for (int j = 0; j < columns; j += kPanel)
    panelProduct(queries.data, queries.stride, queries.rows, head_dim_,
                 panels + static_cast<std::ptrdiff_t>(j) * head_dim_, products + j, columns);
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

}  // namespace mpm
