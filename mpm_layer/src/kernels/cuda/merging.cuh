// SPDX-License-Identifier: Apache-2.0
// What the kernels of merging.cu and group_merging.cu share.
#pragma once

#include "kernels/cuda/kernel.cuh"
#include "kernels/cuda/merging.h"

namespace mpm::cuda {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr int kScanThreads = 1024;  // an image of 512 x 512 pixels with patches of 16 is one step of the scan
constexpr int kScanWarps = kScanThreads / kWarp;

/// Similarity of a row that stands for no group, less than any similarity and any score.
constexpr float kNoGroup = -__builtin_inff();

inline std::size_t size(int count) { return static_cast<std::size_t>(count); }

__device__ inline void copyRow(const float* from, float* to, int dim) {
  for (int c = 4 * laneIndex(); c < dim; c += 4 * kWarp) storeFour(to, dim, c, loadFour(from, dim, c));
}

/// A step of a scan over a block of kScanThreads: `numbered` plus the flags in the threads before this one; `numbered`
/// grows by all flags. `totals` {kScanWarps} is shared memory. Every thread of the block calls it.
__device__ inline int numberOf(bool flag, int* totals, int& numbered) {
  const unsigned flags = __ballot_sync(kAllLanes, flag);
  __syncthreads();  // the totals of a step before have been read
  if (laneIndex() == 0) totals[warpIndex()] = __popc(flags);
  __syncthreads();
  int number = numbered + __popc(flags & ((1u << laneIndex()) - 1));
  for (int w = 0; w < kScanWarps; ++w) {
    if (w < warpIndex()) number += totals[w];
    numbered += totals[w];
  }
  return number;
}

/// Which groups merge, by `count`, `similarity` and `deviations` of the rule. `similarity` {rows}: of each group at one
/// of its rows, kNoGroup at all others. `best` {rows} or null: the rows of groups that do not merge become their own.
/// `ahead` {rows} or null: how many groups are more similar than one that merges, -1 for one that does not.
/// `most_half`: not more groups than half of the rows.
void chooseGroups(const Stream& stream, const MergeRule& rule, bool most_half, const TokenState& state,
                  const float* similarity, int* best, int* ahead);

}  // namespace mpm::cuda
