// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/cuda/device.h"
#include "kernels/cuda/pairing.h"

namespace mpm::cuda {

/// The state of merging/token_state.h on the device, of a whole batch, with packed rows: which cluster each patch went
/// to, how many patches each cluster has, where each image's rows lie.
class TokenState {
 public:
  /// Every patch its own cluster; `special` rows stand in front of every image.
  void reset(const Stream& stream, int batch, int patches, int special);
  /// What `from` is, with `special` rows in front of every image instead of its own. After countRows() of `from`.
  void assign(const Stream& stream, const TokenState& from, int special);

  /// Rows of the tokens now. `total` and `longest` are upper bounds until countRows() was called after a merge.
  const Ragged& rows() const { return rows_; }
  int patches() const { return patches_; }
  int special() const { return special_; }
  const std::vector<int>& liveRows() const { return live_; }           ///< as countRows() found them
  const int* clusterOfPatch() const { return map_[current_].data(); }  ///< {batch, patches}, on the device
  const int* sizes() const { return sizes_[current_].data(); }         ///< {batch, patches}; the first live ones

  /// Waits until the merges so far have counted what they leave, not until they are done, and takes what the host needs
  /// to know of them: exact rows() and the live image rows of every image. Throws mpm::Error when a merge met a NaN or
  /// an infinity.
  const std::vector<int>& countRows();

  /// key_bias {rows().total}: log(size) of every row's cluster, 0 for special rows (proportional attention).
  void logSizes(const Stream& stream, float* key_bias) const;

 private:
  friend class MutualPairMerge;
  void reserve(const Stream& stream, int batch, int patches, int special);

  int patches_ = 0, special_ = 0, current_ = 0;
  Ragged rows_;
  Buffer<int> map_[2], sizes_[2], offsets_[2], not_finite_;
  PinnedBuffer<int> host_offsets_;  // and whether there was a NaN; a merge writes them from the device
  Event counted_;
  bool counting_ = false;
  std::vector<int> live_;
};

/// Where the floats of a state go, as the blobs of the CPU hold them: for image b to the pointer + b * its stride.
/// Null: not wanted.
struct StateFloats {
  float* live = nullptr;   ///< one
  float* map = nullptr;    ///< {patches}
  float* sizes = nullptr;  ///< {patches}; 0 behind the live ones
  std::size_t live_stride = 0, map_stride = 0, sizes_stride = 0;
};
void writeState(const Stream& stream, const TokenState& state, const StateFloats& to);

/// One call of Mutual Pair Merging on a batch of images (merging/mutual_pair_merge.h has the rule).
class MutualPairMerge {
 public:
  /// x {rows, dim} -> merged {fewer rows, dim}, both packed; `merged` must hold as many rows as x. `state` goes
  /// from the one to the other. Enqueues eight launches and waits for nothing.
  void run(const Stream& stream, const float* x, int dim, TokenState& state, float* merged);

  /// The two halves of run(): best neighbours {rows}, and the merge that they make.
  const int* findPairs(const Stream& stream, const float* x, int dim, TokenState& state);
  void mergePairs(const Stream& stream, const float* x, int dim, const int* best, TokenState& state, float* merged);

 private:
  Neighbours neighbours_;
  Buffer<int> best_, cluster_, members_;
};

/// restored {batch, (keep_special ? special : 0) + patches, dim}: the row of every patch's cluster, in raster order.
void restoreRows(const Stream& stream, const float* merged, int dim, const TokenState& state, bool keep_special,
                 float* restored);

}  // namespace mpm::cuda
