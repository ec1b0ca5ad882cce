// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/merging.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "kernels/cuda/merging.cuh"
#include "mpm/error.hpp"

namespace mpm::cuda {
namespace {

// Members of a cluster, counted from the first row after the special rows. `second` is -1 in a cluster of one.
struct Members {
  int first, second;
};

__global__ void resetStates(int patches, int rows, int* map, int* sizes, int* offsets, int* not_finite) {
  const int b = static_cast<int>(blockIdx.y);
  const int p = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (p == 0) {
    offsets[b + 1] = (b + 1) * rows;
    if (b == 0) offsets[0] = *not_finite = 0;
  }
  if (p >= patches) return;
  map[b * patches + p] = p;
  sizes[b * patches + p] = 1;
}

// Copies the clusters, with `more` additional rows in front of each image. `all`: rows of the only image, if those of
// `from_offsets` are a part of them, else -1. `whole`: the copy is for all of them.
__global__ void copyStates(const int* from_map, const int* from_sizes, const int* from_offsets, int patches, int more,
                           int special, int all, bool whole, int* map, int* sizes, int* offsets, int* not_finite) {
  const int b = static_cast<int>(blockIdx.y);
  const int p = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int rows = all >= 0 ? all : from_offsets[b + 1] - from_offsets[b], live = rows - special;
  if (p == 0) {
    offsets[b + 1] = (whole && all >= 0 ? all : from_offsets[b + 1]) + (b + 1) * more;
    if (b == 0) offsets[0] = *not_finite = 0;
  }
  if (p >= patches) return;
  map[b * patches + p] = from_map[b * patches + p];
  sizes[b * patches + p] = p < live ? from_sizes[b * patches + p] : 0;  // a merge writes only the live ones
}

// `all` as above.
__global__ void stateAsFloats(const int* offsets, int special, int all, int patches, const int* map, const int* sizes,
                              StateFloats to) {
  const int b = static_cast<int>(blockIdx.y);
  const int p = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int live = (all >= 0 ? all : offsets[b + 1] - offsets[b]) - special;
  if (p == 0 && to.live != nullptr) *rowOf(to.live, b, to.live_stride) = static_cast<float>(live);
  if (p >= patches) return;
  const int at = b * patches + p;
  if (to.map != nullptr) rowOf(to.map, b, to.map_stride)[p] = static_cast<float>(map[at]);
  if (to.sizes != nullptr) rowOf(to.sizes, b, to.sizes_stride)[p] = p < live ? static_cast<float>(sizes[at]) : 0.0f;
}

// Similarity of each mutual pair, at its first row; kNoGroup at all others. One warp per row.
__global__ void comparePairs(const float* x, int dim, const int* offsets, int special, const int* best_rows,
                             float* similarity_rows) {
  const int b = static_cast<int>(blockIdx.y), begin = offsets[b] + special;
  const int i = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (i >= offsets[b + 1] - begin) return;
  const int j = best_rows[begin + i];
  float similarity = kNoGroup;
  if (i < j && best_rows[begin + j] == i) {  // the same for the whole warp
    const float *first = rowOf(x, begin + i, dim), *second = rowOf(x, begin + j, dim);
    double dot = 0, one = 0, other = 0;
    for (int c = laneIndex(); c < dim; c += kWarp) {
      const auto v = static_cast<double>(first[c]), w = static_cast<double>(second[c]);
      dot += v * w;
      one += v * v;
      other += w * w;
    }
    dot = warpSum(dot);
    one = warpSum(one);
    other = warpSum(other);
    similarity = one > 0 && other > 0 ? static_cast<float>(dot / sqrt(one) / sqrt(other)) : 0.0f;
  }
  if (laneIndex() == 0) similarity_rows[begin + i] = similarity;
}

// One block per image: see chooseGroups().
__global__ void __launch_bounds__(kScanThreads) choose(MergeRule rule, bool most_half, const int* offsets, int special,
                                                       const float* similarity_rows, int* best_rows, int* ahead_rows) {
  auto* const sums = static_cast<double*>(sharedMemory());
  const int b = static_cast<int>(blockIdx.x), begin = offsets[b] + special, n = offsets[b + 1] - begin;
  const float* similarity = similarity_rows + begin;
  auto threshold = static_cast<double>(rule.similarity);
  if (rule.deviations >= 0) {
    double count = 0, sum = 0, squares = 0;
    for (int i = static_cast<int>(threadIdx.x); i < n; i += kScanThreads)
      if (similarity[i] > kNoGroup) count += 1, sum += static_cast<double>(similarity[i]);
    count = blockSum<kScanWarps>(count, sums);
    const double mean = blockSum<kScanWarps>(sum, sums) / (count > 0 ? count : 1);
    for (int i = static_cast<int>(threadIdx.x); i < n; i += kScanThreads) {
      if (similarity[i] > kNoGroup)
        squares += (static_cast<double>(similarity[i]) - mean) * (static_cast<double>(similarity[i]) - mean);
    }
    squares = blockSum<kScanWarps>(squares, sums);
    const double spread = count > 1 ? sqrt(squares / (count - 1)) : 0.0;
    threshold = fmax(threshold, mean + static_cast<double>(rule.deviations) * spread);
  }
  const bool ranks = ahead_rows != nullptr || rule.count >= 0 || most_half;
  const int most = most_half ? n / 2 : n, count = rule.count < 0 || rule.count > most ? most : rule.count;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kScanThreads) {
    const float own = similarity[i];
    int ahead = -1;
    if (own > kNoGroup && static_cast<double>(own) >= threshold) {
      ahead = 0;
      for (int k = 0; ranks && k < n; ++k) ahead += similarity[k] > own || (similarity[k] == own && k < i) ? 1 : 0;
      if (ahead >= count) ahead = -1;
    }
    if (ahead_rows != nullptr) ahead_rows[begin + i] = ahead;
    if (best_rows != nullptr && own > kNoGroup && ahead < 0) best_rows[begin + i] = i;
  }
}

// One block per image: mutual pairs, and a left-to-right scan that numbers the clusters.
__global__ void __launch_bounds__(kScanThreads)
    numberClusters(const int* best_rows, const int* offsets, int special, int patches, const int* sizes_before,
                   int* cluster_rows, Members* member_rows, int* sizes_after, int* live) {
  int* totals = static_cast<int*>(sharedMemory());  // {kScanWarps}
  const int b = static_cast<int>(blockIdx.x);
  const int begin = offsets[b] + special, n = offsets[b + 1] - begin;
  const int* best = best_rows + begin;
  int* cluster = cluster_rows + begin;
  Members* members = member_rows + begin;
  const int* before = sizes_before + b * patches;
  int* after = sizes_after + b * patches;
  int numbered = 0;
  for (int from = 0; from < n; from += kScanThreads) {
    const int i = from + static_cast<int>(threadIdx.x);
    int j = i;
    bool mutual = false;
    if (i < n) {
      j = best[i];
      mutual = j != i && best[j] == i;
    }
    const bool leads = i < n && !(mutual && j < i);
    const int id = numberOf(leads, totals, numbered);
    if (leads) {
      cluster[i] = id;
      members[id] = {i, mutual ? j : -1};
      after[id] = before[i] + (mutual ? before[j] : 0);
    }
  }
  __syncthreads();  // all clusters of leaders are written
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kScanThreads) {
    const int j = best[i];
    if (j < i && best[j] == i) cluster[i] = cluster[j];
  }
  if (threadIdx.x == 0) live[b] = n == 0 ? 0 : numbered;
}

// live[b] -> offsets after the merge, also in host memory, followed by the NaN flag. One warp, 32 images at a time.
__global__ void sumOffsets(const int* live, int batch, int special, const int* not_finite, int* offsets, int* host) {
  int sum = 0;
  for (int from = 0; from < batch; from += kWarp) {
    const int b = from + laneIndex();
    int value = b < batch ? special + live[b] : 0;
    for (int distance = 1; distance < kWarp; distance *= 2) {
      const int left = __shfl_up_sync(kAllLanes, value, distance);
      if (laneIndex() >= distance) value += left;
    }
    if (b < batch) offsets[b + 1] = host[b + 1] = sum + value;
    sum += __shfl_sync(kAllLanes, value, kWarp - 1);
  }
  if (laneIndex() != 0) return;
  offsets[0] = host[0] = 0;
  host[batch + 1] = *not_finite;
}

// In double, so that the mean of equal rows is the same row.
__device__ float blend(double one, float a, double other, float b) {
  return static_cast<float>((one * static_cast<double>(a) + other * static_cast<double>(b)) / (one + other));
}

// `sizes` null: the plain mean. One warp per row of the result: a copy of a special row, or the mean of the members of
// a cluster.
__global__ void averageRows(const float* x, int dim, int special, const int* before, const int* after,
                            const Members* member_rows, const int* sizes, int patches, float* merged) {
  const int b = static_cast<int>(blockIdx.y);
  const int k = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (k >= after[b + 1] - after[b]) return;
  const float* image = rowOf(x, before[b], dim);
  float* to = rowOf(merged, after[b] + k, dim);
  const Members members = k < special ? Members{k - special, -1} : member_rows[before[b] + special + k - special];
  const float* first = rowOf(image, special + members.first, dim);
  const float* second = rowOf(image, special + members.second, dim);
  double one = 0, other = 0;
  if (sizes != nullptr && members.second >= 0) {
    one = sizes[b * patches + members.first];
    other = sizes[b * patches + members.second];
  }
  for (int c = 4 * laneIndex(); c < dim; c += 4 * kWarp) {
    float4 v = loadFour(first, dim, c);
    if (members.second >= 0) {
      // Halving first cannot overflow and is exact for normal numbers, with or without fused multiply-add.
      const float4 w = loadFour(second, dim, c);
      if (sizes != nullptr) {
        v = make_float4(blend(one, v.x, other, w.x), blend(one, v.y, other, w.y), blend(one, v.z, other, w.z),
                        blend(one, v.w, other, w.w));
      } else {
        v = make_float4(0.5f * v.x + 0.5f * w.x, 0.5f * v.y + 0.5f * w.y, 0.5f * v.z + 0.5f * w.z,
                        0.5f * v.w + 0.5f * w.w);
      }
    }
    storeFour(to, dim, c, v);
  }
}

__global__ void composeMaps(const int* map_before, int patches, const int* offsets, int special,
                            const int* cluster_rows, int* map_after) {
  const int b = static_cast<int>(blockIdx.y);
  const int p = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (p >= patches) return;
  map_after[b * patches + p] = cluster_rows[offsets[b] + special + map_before[b * patches + p]];
}

__global__ void gatherRows(const float* merged, int dim, int special, int patches, const int* offsets, const int* map,
                           int kept, float* restored) {
  const int b = static_cast<int>(blockIdx.y);
  const int k = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (k >= kept + patches) return;
  const int row = offsets[b] + (k < kept ? k : special + map[b * patches + k - kept]);
  copyRow(rowOf(merged, row, dim), rowOf(restored, b * (kept + patches) + k, dim), dim);
}

// `all` as above. Attention multiplies the bias by log2(e), and the product with kNoKey is finite: a tile of nothing
// but such keys has a largest score.
__global__ void biasOfKeys(const int* offsets, int special, int all, int patches, const int* sizes, bool proportional,
                           float* key_bias) {
  constexpr float kNoKey = -1e30f;
  const int b = static_cast<int>(blockIdx.y);
  const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (k >= (all >= 0 ? all : offsets[b + 1] - offsets[b])) return;
  const int members = k < special ? 1 : sizes[b * patches + k - special];
  key_bias[offsets[b] + k] = members == 0 ? kNoKey : proportional ? logf(static_cast<float>(members)) : 0.0f;
}

// One warp per row of the result.
__global__ void behindFront(const float* x, int dim, int dropped, const int* before, const float* front, int count,
                            const int* after, float* y) {
  const int b = static_cast<int>(blockIdx.y);
  const int k = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (k >= after[b + 1] - after[b]) return;
  const float* from = k < count ? rowOf(front, k, dim) : rowOf(x, before[b] + dropped + k - count, dim);
  copyRow(from, rowOf(y, after[b] + k, dim), dim);
}

// Copies the rows first ... first + count - 1 of each image.
__global__ void gatherFront(const float* x, int dim, const int* offsets, int first, int count, float* front) {
  const int b = static_cast<int>(blockIdx.y);
  const int k = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (k >= count) return;
  copyRow(rowOf(x, offsets[b] + first + k, dim), rowOf(front, b * count + k, dim), dim);
}

// One thread per column: neighbouring threads read neighbouring elements.
__global__ void weightedMean(const float* x, int dim, const int* offsets, int special, int patches, const int* sizes,
                             float* pooled) {
  const int b = static_cast<int>(blockIdx.y);
  const int c = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (c >= dim) return;
  const int begin = offsets[b] + special, live = offsets[b + 1] - begin;
  double sum = 0;  // as on the CPU
  for (int i = 0; i < live; ++i) sum += static_cast<double>(sizes[b * patches + i]) * rowOf(x, begin + i, dim)[c];
  rowOf(pooled, b, dim)[c] = static_cast<float>(sum / patches);
}

// One warp per row; a lane owns every 32nd column. Members are added in raster order, as on the CPU. `computed`: which
// cluster the row stands for; null: row i for cluster i.
__global__ void mergeRotations(MergedPositions merged, const float* cosine, const float* sine, int tables, int pairs,
                               const int* offsets, const int* computed, int patches, const int* map, const int* sizes,
                               float* rotations) {
  const int b = static_cast<int>(blockIdx.y);
  const int i = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (i >= offsets[b + 1] - offsets[b]) return;
  const int row = computed != nullptr ? computed[i] : i;
  const int half = tables * pairs;
  const bool first = merged == MergedPositions::kFirst, centroid = merged == MergedPositions::kCentroid;
  int left = first ? 1 : sizes[b * patches + row];
  const float weight = 1.0f / static_cast<float>(left);
  float* const to = rowOf(rotations, offsets[b] + i, 2 * half);
  for (int c = laneIndex(); c < 2 * half; c += kWarp) to[c] = 0;
  for (int begin = 0; left > 0 && begin < patches; begin += kWarp) {
    const int patch = begin + laneIndex();
    unsigned members = __ballot_sync(kAllLanes, patch < patches && map[b * patches + patch] == row);
    for (; left > 0 && members != 0; members &= members - 1, --left) {
      const int member = begin + __ffs(static_cast<int>(members)) - 1;
      for (int c = laneIndex(); c < 2 * half; c += kWarp) {
        const int column = c % half, at = (column / pairs * patches + member) * pairs + column % pairs;
        to[c] += weight * (c < half || centroid ? cosine : sine)[at];
      }
    }
  }
  if (!centroid) return;
  for (int c = laneIndex(); c < 2 * half; c += kWarp) to[c] = c < half ? cosf(to[c]) : sinf(to[c]);
}

unsigned images(const TokenState& state) { return static_cast<unsigned>(state.rows().batch); }

// As the kernels take it: -1 when all rows are there.
int allIfPart(const TokenState& state) { return state.isPart() ? state.allRows() : -1; }

}  // namespace

void TokenState::reserve(const Stream& stream, int batch, int patches, int special) {
  patches_ = patches;
  special_ = special;
  current_ = 0;
  for (int i = 0; i < 2; ++i) {
    map_[i].atLeast(stream, size(batch) * size(patches));
    sizes_[i].atLeast(stream, size(batch) * size(patches));
    offsets_[i].atLeast(stream, size(batch) + 1);
  }
  host_offsets_.atLeast(stream, size(batch) + 2);
  counting_ = false;
  not_finite_.atLeast(stream, 1);
  live_in_all_ = -1;
  gaps_ = false;
}

void TokenState::take(const Stream& stream, const TokenState& from, int special, bool all) {
  const int batch = from.rows_.batch, more = special - from.special_;
  reserve(stream, batch, from.patches_, special);
  launch(copyStates, Grid{piecesOf(patches_, kThreads), static_cast<unsigned>(batch)}, kThreads, 0, stream,
         from.clusterOfPatch(), from.sizes(), from.rows_.offsets, patches_, more, from.special_, allIfPart(from), all,
         map_[0].data(), sizes_[0].data(), offsets_[0].data(), not_finite_.data());
  rows_ = {batch, offsets_[0].data(), from.rows_.total + batch * more, from.rows_.longest + more};
  live_ = from.live_;
  gaps_ = from.gaps_;
  if (!from.isPart()) return;
  if (all) {
    rows_.total = rows_.longest = from.allRows();
    live_ = {from.live_in_all_};
    return;
  }
  live_in_all_ = from.live_in_all_;
  host_computed_ = from.host_computed_;
  copy(stream, from.computed_.data(), computed_.atLeast(stream, size(patches_)), host_computed_.size() * sizeof(int));
}

void TokenState::start(const Stream& stream, int batch, int patches, int special, int live) {
  if (batch < 1 || patches < 1 || special < 0) {
    throw Error("a batch of " + std::to_string(batch) + " images of " + std::to_string(patches) + " patches and " +
                std::to_string(special) + " special tokens is not possible");
  }
  reserve(stream, batch, patches, special);
  rows_ = {batch, offsets_[0].data(), batch * (special + live), special + live};
  live_.assign(size(batch), live);
  launch(resetStates, Grid{piecesOf(patches, kThreads), static_cast<unsigned>(batch)}, kThreads, 0, stream, patches,
         special + live, map_[0].data(), sizes_[0].data(), offsets_[0].data(), not_finite_.data());
}

void TokenState::reset(const Stream& stream, int batch, int patches, int special) {
  start(stream, batch, patches, special, patches);
}

void TokenState::reset(const Stream& stream, int patches, int special, const std::vector<int>& computed) {
  start(stream, 1, patches, special, static_cast<int>(computed.size()));
  becomePart(stream, patches, computed);
}

void TokenState::becomePart(const Stream& stream, int live, std::vector<int> computed) {
  if (static_cast<int>(computed.size()) == live) return;
  live_in_all_ = live;
  host_computed_ = std::move(computed);
  upload(stream, host_computed_.data(), computed_.atLeast(stream, size(patches_)), host_computed_.size() * sizeof(int));
}

void TokenState::writeComputed(float* list) const {
  *list = static_cast<float>(live_[0]);
  if (isPart())
    std::copy(host_computed_.begin(), host_computed_.end(), list + 1);
  else
    std::iota(list + 1, list + 1 + live_[0], 0.0f);
}

void TokenState::read(const Stream& stream, MatrixView<const float> states, int special, const float* computed) {
  const int batch = states.rows, patches = (states.cols - 1) / 2;
  reset(stream, batch, patches, special);
  std::vector<int> map, sizes, offsets(1);
  for (int b = 0; b < batch; ++b) {
    const float* const state = states.row(b);
    const int live = static_cast<int>(state[0]);
    for (int i = 0; i < patches; ++i) {
      const float cluster = state[1 + i];
      if (!(cluster >= 0 && cluster < state[0])) {
        throw Error("patch " + std::to_string(i) + " of image " + std::to_string(b) +
                    " is in no live row; convert the model again");
      }
      map.push_back(static_cast<int>(cluster));
      sizes.push_back(i < live ? static_cast<int>(state[1 + patches + i]) : 0);
      gaps_ = gaps_ || (i < live && sizes.back() == 0);
    }
    const int there = computed != nullptr ? static_cast<int>(computed[0]) : live;
    if (computed != nullptr) becomePart(stream, live, std::vector<int>(computed + 1, computed + 1 + there));
    live_[size(b)] = there;
    offsets.push_back(offsets.back() + special + there);
    rows_.longest = b == 0 ? special + there : std::max(rows_.longest, special + there);
  }
  rows_.total = offsets.back();
  upload(stream, map.data(), map_[0].data(), map.size() * sizeof(int));
  upload(stream, sizes.data(), sizes_[0].data(), sizes.size() * sizeof(int));
  upload(stream, offsets.data(), offsets_[0].data(), offsets.size() * sizeof(int));
  stream.wait();  // before they are freed
}

const std::vector<int>& TokenState::countRows() {
  if (!counting_) return live_;
  counted_.wait();
  const int batch = rows_.batch;
  const int* const host = host_offsets_.data();
  if (host[batch + 1] != 0) {
    throw Error("image " + std::to_string(host[batch + 1] - 1) +
                " of the batch has a token or score with a NaN or an infinity; check the layers before the merge");
  }
  counting_ = false;
  rows_.total = host[batch];
  rows_.longest = 0;
  for (int b = 0; b < batch; ++b) {
    const int rows = host[b + 1] - host[b];
    rows_.longest = std::max(rows_.longest, rows);
    live_[size(b)] = rows - special_;
  }
  return live_;
}

void TokenState::keyBias(const Stream& stream, bool proportional, float* key_bias) const {
  const int longest = isPart() ? allRows() : rows_.longest;
  if (longest == 0) return;
  launch(biasOfKeys, Grid{piecesOf(longest, kThreads), static_cast<unsigned>(rows_.batch)}, kThreads, 0, stream,
         rows_.offsets, special_, allIfPart(*this), patches_, sizes(), proportional, key_bias);
}

void writeState(const Stream& stream, const TokenState& state, const StateFloats& to) {
  launch(stateAsFloats, Grid{piecesOf(state.patches(), kThreads), images(state)}, kThreads, 0, stream,
         state.rows().offsets, state.special(), allIfPart(state), state.patches(), state.clusterOfPatch(),
         state.sizes(), to);
}

int* MutualPairMerge::findPairs(const Stream& stream, const float* x, int dim, TokenState& state) {
  int* const best = best_.atLeast(stream, size(state.rows_.total));
  neighbours_.find(stream, x, dim, state.special_, state.rows_, best, state.not_finite_.data());
  return best;
}

void chooseGroups(const Stream& stream, const MergeRule& rule, bool most_half, const TokenState& state,
                  const float* similarity, int* best, int* ahead) {
  launch(choose, Grid{images(state)}, kScanThreads, kScanWarps * sizeof(double), stream, rule, most_half,
         state.rows().offsets, state.special(), similarity, best, ahead);
}

void TokenState::become(const Stream& stream, const int* cluster, const int* live) {
  const int from = current_, to = 1 - from;
  const auto batch = static_cast<unsigned>(rows_.batch);
  int* const offsets = offsets_[to].data();
  launch(sumOffsets, Grid{}, kWarp, 0, stream, live, rows_.batch, special_, not_finite_.data(), offsets,
         host_offsets_.data());
  // The host can read the counts and enqueue the next block while the rows are averaged.
  counted_.record(stream);
  counting_ = true;
  launch(composeMaps, Grid{piecesOf(patches_, kThreads), batch}, kThreads, 0, stream, map_[from].data(), patches_,
         rows_.offsets, special_, cluster, map_[to].data());
  rows_.offsets = offsets;
  current_ = to;
}

void MutualPairMerge::choosePairs(const Stream& stream, const MergeRule& rule, const float* x, int dim,
                                  const TokenState& state, int* best) {
  const Ragged& rows = state.rows_;
  float* const similarity = similarity_.atLeast(stream, size(rows.total));
  launch(comparePairs, Grid{piecesOf(rows.longest, kWarps), images(state)}, kThreads, 0, stream, x, dim, rows.offsets,
         state.special_, static_cast<const int*>(best), similarity);
  chooseGroups(stream, rule, false, state, similarity, best, nullptr);
}

void MutualPairMerge::mergePairs(const Stream& stream, const float* x, int dim, const int* best, TokenState& state,
                                 float* merged, bool weighted) {
  const Ragged rows = state.rows_;
  const auto batch = static_cast<unsigned>(rows.batch);
  const int special = state.special_, patches = state.patches_, from = state.current_;
  int* const cluster = cluster_.atLeast(stream, size(rows.total) + size(rows.batch));
  int* const live = cluster + rows.total;
  auto* const members = reinterpret_cast<Members*>(members_.atLeast(stream, 2 * size(rows.total)));
  launch(numberClusters, Grid{batch}, kScanThreads, kScanWarps * sizeof(int), stream, best, rows.offsets, special,
         patches, state.sizes_[from].data(), cluster, members, state.sizes_[1 - from].data(), live);
  state.become(stream, cluster, live);
  launch(averageRows, Grid{piecesOf(rows.longest, kWarps), batch}, kThreads, 0, stream, x, dim, special, rows.offsets,
         state.rows_.offsets, members, weighted ? static_cast<const int*>(state.sizes_[from].data()) : nullptr, patches,
         merged);
}

void MutualPairMerge::run(const Stream& stream, const MergeRule& rule, const float* metric, int metric_dim,
                          const float* x, int dim, TokenState& state, float* merged) {
  int* const best = findPairs(stream, metric, metric_dim, state);
  const bool all = rule.count < 0 && rule.similarity < -1 && rule.deviations < 0;
  if (!all) choosePairs(stream, rule, metric, metric_dim, state, best);
  mergePairs(stream, x, dim, best, state, merged, rule.weighted);
}

RotaryTables::RotaryTables(const Stream& stream, MergedPositions merged, MatrixView<const float> cosine,
                           MatrixView<const float> sine)
    : merged_(merged), rows_(cosine.rows), pairs_(cosine.cols) {
  const auto onDevice = [&](MatrixView<const float> table) {
    return uploaded(stream, std::vector<float>(table.data, table.row(table.rows)));
  };
  cosine_ = onDevice(cosine);
  if (merged != MergedPositions::kCentroid) sine_ = onDevice(sine);
}

void RotaryTables::run(const Stream& stream, const TokenState& state, float* rotations) const {
  if (state.rows().total == 0) return;
  launch(mergeRotations, Grid{piecesOf(state.rows().longest, kWarps), images(state)}, kThreads, 0, stream, merged_,
         cosine_.data(), sine_.data(), rows_ / state.patches(), pairs_, state.rows().offsets, state.computed(),
         state.patches(), state.clusterOfPatch(), state.sizes(), rotations);
}

void restoreRows(const Stream& stream, const float* merged, int dim, const TokenState& state, bool keep_special,
                 float* restored) {
  const int kept = keep_special ? state.special() : 0;
  launch(gatherRows, Grid{piecesOf(kept + state.patches(), kWarps), images(state)}, kThreads, 0, stream, merged, dim,
         state.special(), state.patches(), state.rows().offsets, state.clusterOfPatch(), kept, restored);
}

void putInFront(const Stream& stream, const float* x, int dim, const TokenState& before, const float* front, int count,
                const TokenState& after, float* y) {
  launch(behindFront, Grid{piecesOf(after.rows().longest, kWarps), images(after)}, kThreads, 0, stream, x, dim,
         before.special() + count - after.special(), before.rows().offsets, front, count, after.rows().offsets, y);
}

void gatherSpecialRows(const Stream& stream, const float* x, int dim, const TokenState& state, int first, int count,
                       float* front) {
  launch(gatherFront, Grid{piecesOf(count, kWarps), images(state)}, kThreads, 0, stream, x, dim, state.rows().offsets,
         first, count, front);
}

void meanOverPatches(const Stream& stream, const float* x, int dim, const TokenState& state, float* pooled) {
  launch(weightedMean, Grid{piecesOf(dim, kThreads), images(state)}, kThreads, 0, stream, x, dim, state.rows().offsets,
         state.special(), state.patches(), state.sizes(), pooled);
}

}  // namespace mpm::cuda
