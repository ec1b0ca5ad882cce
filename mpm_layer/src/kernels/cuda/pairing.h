// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/device.h"

namespace mpm::cuda {

/// Best neighbours by cosine similarity for each image of a batch (the rule of kernels/pairing.h), on the tensor cores.
/// Each similarity is computed once in fp16 for both of its rows. The N x N matrix is never stored. Candidates that the
/// rounding of fp16 leaves open (the bound is proven in pairing.cu) are decided in fp32. Same result in every run.
class Neighbours {
 public:
  /// `warpgroups`: use Hopper's warpgroups if hasWarpgroupProducts(). The neighbours are the same.
  explicit Neighbours(bool warpgroups = true) : warpgroups_(warpgroups) {}

  /// x {rows.total, dim}, packed; the first `special` rows of each image are skipped. best {rows.total}: row
  /// offsets[b] + special + i holds b(i), counted from the first row after the special rows. For an image with a NaN or
  /// an infinity, *not_finite becomes at least its index + 1, and its neighbours are undefined.
  void find(const Stream& stream, const float* x, int dim, int special, const Ragged& rows, int* best, int* not_finite);

  struct Candidate {
    int index;
    float similarity;
  };

 private:
  bool warpgroups_;
  Buffer<Half> halves_;
  Buffer<float> factors_;  // {rows, 2}
  Buffer<float> errors_;
  Buffer<unsigned> bounds_;
  Buffer<int> counts_, crowded_;
  Buffer<Candidate> candidates_;
};

}  // namespace mpm::cuda
