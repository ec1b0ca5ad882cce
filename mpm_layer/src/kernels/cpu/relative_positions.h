// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/scratch.h"
#include "kernels/view.h"
#include "kernels/window_attention.h"

namespace mpm {

/// RelativePositions as attention adds them: for queries that are times `scale` already.
class PackedRelativePositions {
 public:
  PackedRelativePositions() = default;
  PackedRelativePositions(const RelativePositions& positions, int head_dim, float scale);

  bool empty() const { return height_ == 0; }

  /// biases[i * stride + j] = what the logit of query begin + i and key j gets more, for every key of the grid. queries
  /// {at most kAttentionRows, head_dim}.
  void biases(MatrixView<const float> queries, int begin, float* biases, std::ptrdiff_t stride) const;

 private:
  int height_ = 0, width_ = 0, head_dim_ = 0;
  /// {panels, head_dim, kPanel}: rows, then columns, each from the largest distance to the smallest. So the positions
  /// of the keys of one query are neighbours, in the order of the keys.
  Scratch<float> panels_;
};

}  // namespace mpm
