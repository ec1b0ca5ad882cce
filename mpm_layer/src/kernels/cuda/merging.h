// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/merge_rule.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/pairing.h"
#include "kernels/view.h"
#include "mpm/options.hpp"

namespace mpm::cuda {

/// The state of merging/token_state.h on the device, for a whole batch with packed rows: the cluster of each patch, the
/// number of patches of each cluster, the offset of each image.
class TokenState {
 public:
  /// Every patch is its own cluster. `special` rows precede each image.
  void reset(const Stream& stream, int batch, int patches, int special);
  /// The same for one image, of which only the rows of these patches are there: `computed` on the host, ascending.
  void reset(const Stream& stream, int patches, int special, const std::vector<int>& computed);
  /// What blobs of the CPU say (merging/token_state.h): `states` {batch, 1 + 2 patches} on the host. `special` rows
  /// precede each image. `computed` {1 + patches} or null: the rows of the only image that are there, as the CPU lists
  /// them. Throws mpm::Error when a patch is in no cluster.
  void read(const Stream& stream, MatrixView<const float> states, int special, const float* computed = nullptr);
  /// Copies `from`, with `special` rows in front of each image. Call countRows() of `from` first.
  void assign(const Stream& stream, const TokenState& from, int special) { take(stream, from, special, false); }
  /// Copies `from`, for all rows of its image.
  void assignAll(const Stream& stream, const TokenState& from) { take(stream, from, from.special_, true); }

  /// Current rows. After a merge, `total` and `longest` are upper bounds until countRows().
  const Ragged& rows() const { return rows_; }
  int patches() const { return patches_; }
  int special() const { return special_; }
  const std::vector<int>& liveRows() const { return live_; }           ///< of rows(); from countRows()
  const int* clusterOfPatch() const { return map_[current_].data(); }  ///< {batch, patches}, on the device
  /// {batch, patches}, on the device; only the first live ones are valid.
  const int* sizes() const { return sizes_[current_].data(); }

  /// In a net that reuses rows of earlier frames (docs/reuse.md), rows() may be a part of the rows of its only image.
  bool isPart() const { return live_in_all_ >= 0; }
  /// rows().total, and with a part the number of all rows.
  int allRows() const { return isPart() ? special_ + live_in_all_ : rows_.total; }
  /// {liveRows()[0]}, on the device: which of all rows behind the special ones are there; null: all are.
  const int* computed() const { return isPart() ? computed_.data() : nullptr; }
  /// The same on the host, as the CPU lists them: {1 + patches}.
  void writeComputed(float* list) const;
  /// Whether some of all rows belong to no patch.
  bool hasGaps() const { return gaps_; }

  /// Waits until the last merge has counted its rows (not until it is done) and updates rows() and liveRows(). Throws
  /// mpm::Error when a merge found a NaN or an infinity.
  const std::vector<int>& countRows();

  /// key_bias {allRows()}: log(size) of every row's cluster if it is `proportional`, else 0, and 0 for special rows. Of
  /// a row without patches the bias is so low that it is no key.
  void keyBias(const Stream& stream, bool proportional, float* key_bias) const;

 private:
  friend class GroupMerge;
  friend class MutualPairMerge;
  /// Enqueues the end of a merge. `cluster` {rows}: the cluster that each row joins; `live` {batch}: the number of
  /// clusters of each image. The caller writes their sizes into sizes_[current_] of the new state, which is sizes_[1 -
  /// current_] of the old one.
  void become(const Stream& stream, const int* cluster, const int* live);
  void reserve(const Stream& stream, int batch, int patches, int special);
  /// Every patch is its own cluster, and of each image so many rows behind the special ones are there.
  void start(const Stream& stream, int batch, int patches, int special, int live);
  /// Of the only image, only these of `live` rows are there.
  void becomePart(const Stream& stream, int live, std::vector<int> computed);
  void take(const Stream& stream, const TokenState& from, int special, bool all);

  int patches_ = 0, special_ = 0, current_ = 0;
  int live_in_all_ = -1;  // rows behind the special ones, of which rows_ has a part; -1: rows_ has all
  bool gaps_ = false;
  std::vector<int> host_computed_;
  Buffer<int> computed_;  // the same
  Ragged rows_;
  Buffer<int> map_[2], sizes_[2], offsets_[2], not_finite_;
  PinnedBuffer<int> host_offsets_;  // written by the device; the last one is the NaN flag
  Event counted_;
  bool counting_ = false;
  std::vector<int> live_;
};

/// Destinations for a state as floats, in the layout of the CPU's blobs: image b goes to pointer + b * stride. Null
/// means not wanted.
struct StateFloats {
  float* live = nullptr;   ///< {1}
  float* map = nullptr;    ///< {patches}
  float* sizes = nullptr;  ///< {patches}; 0 after the live ones
  std::ptrdiff_t live_stride = 0, map_stride = 0, sizes_stride = 0;

  bool operator==(const StateFloats&) const = default;
};
void writeState(const Stream& stream, const TokenState& state, const StateFloats& to);

/// One call of a method of mutual pairs on a batch of images (merging/merge_tokens.h has the rule).
class MutualPairMerge {
 public:
  /// x {rows, dim} -> merged {fewer rows, dim}, both packed; `merged` must hold as many rows as x. Rows of `metric`
  /// {rows, metric_dim} are compared. Updates `state`. Enqueues eight launches, or ten where the rule chooses among the
  /// pairs, and does not wait.
  void run(const Stream& stream, const MergeRule& rule, const float* metric, int metric_dim, const float* x, int dim,
           TokenState& state, float* merged);
  void run(const Stream& stream, const float* x, int dim, TokenState& state, float* merged) {
    run(stream, {}, x, dim, x, dim, state, merged);
  }

  /// The parts of run(): find the best neighbours {rows}, make rows of pairs that do not merge their own, merge pairs.
  int* findPairs(const Stream& stream, const float* x, int dim, TokenState& state);
  void choosePairs(const Stream& stream, const MergeRule& rule, const float* x, int dim, const TokenState& state,
                   int* best);
  void mergePairs(const Stream& stream, const float* x, int dim, const int* best, TokenState& state, float* merged,
                  bool weighted = false);

 private:
  Neighbours neighbours_;
  Buffer<int> best_, cluster_, members_;
  Buffer<float> similarity_;
};

/// Rotary positions of each patch, and those of merged rows (merging/merge_positions.h).
class RotaryTables {
 public:
  /// `cosine`, `sine` {tables * patches, pairs}, on the host; copied. For kCentroid `cosine` are angles and `sine` is
  /// not read.
  RotaryTables(const Stream& stream, MergedPositions merged, MatrixView<const float> cosine,
               MatrixView<const float> sine);

  /// rotations {rows of `state`, 2 * tables * pairs}, packed: the cosines of each row, then its sines. `state` has no
  /// special rows.
  void run(const Stream& stream, const TokenState& state, float* rotations) const;

 private:
  MergedPositions merged_;
  int rows_, pairs_;
  Buffer<float> cosine_, sine_;
};

/// restored {batch, (keep_special ? special : 0) + patches, dim}: for each patch, in raster order, the row of its
/// cluster.
void restoreRows(const Stream& stream, const float* merged, int dim, const TokenState& state, bool keep_special,
                 float* restored);

/// x {rows of `before`, dim} -> y {rows of `after`, dim}: puts `front` {count, dim} in front of each image, in place of
/// as many of its special rows as `after` has no room for. `after` is `before` with another number of special rows
/// (TokenState::assign).
void putInFront(const Stream& stream, const float* x, int dim, const TokenState& before, const float* front, int count,
                const TokenState& after, float* y);

/// front {batch, count, dim}: copies special rows of each image, from row `first` on.
void gatherSpecialRows(const Stream& stream, const float* x, int dim, const TokenState& state, int first, int count,
                       float* front);

/// pooled {batch, dim}: the mean over the patches. Each patch has the row of its cluster.
void meanOverPatches(const Stream& stream, const float* x, int dim, const TokenState& state, float* pooled);

}  // namespace mpm::cuda
