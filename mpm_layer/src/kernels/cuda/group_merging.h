// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/merging.h"

namespace mpm::cuda {

/// What a GroupMerge compares, on the device.
struct Compared {
  const float* metric = nullptr;  ///< {rows, metric_dim}, packed; scored windows do not read it
  int metric_dim = 0;
  const float* scores = nullptr;  ///< of scored windows, {batch, patches / 4}
  const float* shared = nullptr;  ///< of scored windows, {batch, patches / 4, dim}: the row of each if it merges
};

/// One call of a method that merges matches of even with odd rows, or windows, on a batch of images
/// (merging/merge_tokens.h has the rules and the order of the merged rows). Similarities are fp32 sums in the order of
/// the CPU.
class GroupMerge {
 public:
  /// x {rows, dim} -> merged {fewer rows, dim}, both packed; `merged` must hold as many rows as x. Updates `state`.
  /// Enqueues up to nine launches and does not wait. Throws mpm::Error for windows of an image that was merged before.
  void run(const Stream& stream, const MergeRule& rule, const Compared& compared, const float* x, int dim,
           TokenState& state, float* merged);

 private:
  Buffer<float> units_, similarity_;
  Buffer<int> choice_, cluster_;
};

}  // namespace mpm::cuda
