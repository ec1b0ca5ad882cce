// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "kernels/parallel.h"
#include "kernels/view.h"

namespace mpm {

/// Runs a row-wise kernel over the live rows of a ragged batch in tiles. Keeps its lists between calls.
class RowTiles {
 public:
  static constexpr int kHeight = 64;

  /// Row counts of a blob without state: every row of every image is live. {batch, dim} counts as one row per image.
  const int* allRows(const cv::Mat& blob) {
    rows_.assign(blob.size[0], blob.dims == 2 ? 1 : blob.size[1]);
    return rows_.data();
  }

  /// kernel(x rows, y rows) for tiles of at most kHeight live rows.
  template <typename Kernel>
  void run(TokensView<const float> x, TokensView<float> y, const Parallel& parallel, Kernel kernel) {
    tiles_.clear();
    for (int b = 0; b < x.batch; ++b) {
      for (int begin = 0; begin < x.rows[b]; begin += kHeight)
        tiles_.push_back({b, begin, std::min(begin + kHeight, x.rows[b])});
    }
    parallel.run(static_cast<int>(tiles_.size()), [&](int t) {
      const Tile& tile = tiles_[t];
      kernel(x.image(tile.image).rowRange(tile.begin, tile.end), y.image(tile.image).rowRange(tile.begin, tile.end));
    });
  }

 private:
  struct Tile {
    int image, begin, end;
  };
  std::vector<int> rows_;
  std::vector<Tile> tiles_;
};

}  // namespace mpm
