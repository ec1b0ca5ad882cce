// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cuda/device.h"
#include "kernels/cuda/number.h"

namespace mpm::cuda {

/// Best neighbours in cosine similarity for every image of a batch: the rule of kernels/pairing.h, on the tensor cores.
/// Each similarity is computed once in fp16 for both of its rows, and the N x N matrix is never stored. What the
/// rounding of fp16 leaves open, by a bound that is proven in pairing.cu, is decided in fp32. Same result in every run.
class Neighbours {
 public:
  /// `warpgroups`: on Hopper's warpgroups where hasWarpgroupProducts(). The same neighbours either way.
  explicit Neighbours(bool warpgroups = true) : warpgroups_(warpgroups) {}

  /// x {rows.total, dim}, packed; the first `special` rows of every image are left out. best {rows.total}: at row
  /// offsets[b] + special + i stands b(i), counted from the first row behind the special ones. An image with a NaN or
  /// an infinity raises *not_finite to its index + 1 if it was lower; its neighbours are then undefined.
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
