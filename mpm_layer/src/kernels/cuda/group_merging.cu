// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/group_merging.h"

#include <algorithm>
#include <limits>
#include <string>

#include "kernels/cuda/merging.cuh"
#include "mpm/error.hpp"

namespace mpm::cuda {
namespace {

constexpr int kTile = 32;                     // rows of a tile of matches, and columns of a step
constexpr int kRowsPerWarp = kTile / kWarps;  // rows of the tile that a warp compares
constexpr int kColumns = 8;                   // columns of a mean that a lane adds up at a time

// Image rows of one image: every second row of the whole sequence, special rows included, is even.
struct Halves {
  int begin, rows;  // packed rows behind the special ones
  int even, odd;    // the first of each, counted from `begin`

  __device__ int evens() const { return (rows - even + 1) / 2; }
  __device__ int odds() const { return (rows - odd + 1) / 2; }
};

__device__ Halves halvesOf(const int* offsets, int special, int image) {
  const int begin = offsets[image] + special;
  return {begin, offsets[image + 1] - begin, special % 2, 1 - special % 2};
}

// Marks the image of row or score that is not finite. Every lane that calls it has the same `finite`.
__device__ void requireFinite(bool finite, int image, int* not_finite) {
  if (!finite && laneIndex() == 0) atomicMax(not_finite, image + 1);
}

__device__ double squaresOf(const float* row, int dim) {
  double squares = 0;
  for (int c = laneIndex(); c < dim; c += kWarp) squares += static_cast<double>(row[c]) * static_cast<double>(row[c]);
  return warpSum(squares);
}

// A sum of squares of finite floats is always smaller.
__device__ bool isFinite(double squares) { return squares < 1e300; }

// Scales each image row to length 1 as the CPU does (kernels/cpu/pairing.cpp). One warp per row.
__global__ void scaleRows(const float* x, int dim, const int* offsets, int special, float* units, int* not_finite) {
  const int b = static_cast<int>(blockIdx.y), begin = offsets[b] + special;
  const int i = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (i >= offsets[b + 1] - begin) return;
  const float* const row = rowOf(x, begin + i, dim);
  float* const to = rowOf(units, begin + i, dim);
  const double squares = squaresOf(row, dim);
  requireFinite(isFinite(squares), b, not_finite);
  const bool empty = !isFinite(squares) || squares == 0, moderate = squares > 1e-36 && squares < 1e36;
  const double inverse = empty ? 0 : 1 / sqrt(squares);
  const auto factor = static_cast<float>(moderate ? inverse : 0);
  for (int c = laneIndex(); c < dim; c += kWarp) {
    to[c] = empty ? 0.0f : moderate ? row[c] * factor : static_cast<float>(static_cast<double>(row[c]) * inverse);
  }
}

// The best odd row of each even row, ties to the lowest, and their similarity. A block compares kTile even rows with
// all odd rows; of a tile, a lane has an odd row and a warp kRowsPerWarp even rows. Odd rows are their own best.
__global__ void __launch_bounds__(kThreads)
    matchRows(const float* units, int dim, const int* offsets, int special, int* best_rows, float* similarity_rows) {
  auto& tiles = *static_cast<float(*)[2][kTile][kTile + 1]>(sharedMemory());
  const Halves image = halvesOf(offsets, special, static_cast<int>(blockIdx.y));
  const int evens = image.evens(), odds = image.odds(), thread = static_cast<int>(threadIdx.x);
  const int first = static_cast<int>(blockIdx.x) * kTile, own = warpIndex() * kRowsPerWarp;
  if (first >= evens && first >= odds) return;
  if (first + thread < odds && thread < kTile) {
    const int row = image.odd + 2 * (first + thread);
    best_rows[image.begin + row] = row;
    similarity_rows[image.begin + row] = kNoGroup;
  }
  float top[kRowsPerWarp];
  int match[kRowsPerWarp];
  for (int r = 0; r < kRowsPerWarp; ++r) {
    top[r] = kNoGroup;
    match[r] = 0;
  }
  for (int from = 0; from < odds; from += kTile) {
    float sum[kRowsPerWarp] = {};
    for (int column = 0; column < dim; column += kTile) {
      __syncthreads();  // the tiles of the step before have been read
      for (int k = thread; k < 2 * kTile * kTile; k += kThreads) {
        const int half = k / (kTile * kTile), r = k / kTile % kTile, c = k % kTile;
        const int index = (half == 0 ? first : from) + r, count = half == 0 ? evens : odds;
        const int row = image.begin + (half == 0 ? image.even : image.odd) + 2 * index;
        const bool there = index < count && column + c < dim;
        tiles[half][r][c] = there ? rowOf(units, row, dim)[column + c] : 0.0f;
      }
      __syncthreads();
      for (int c = 0; c < kTile; ++c) {
        const float odd = tiles[1][laneIndex()][c];
        for (int r = 0; r < kRowsPerWarp; ++r) sum[r] = fmaf(tiles[0][own + r][c], odd, sum[r]);
      }
    }
    for (int r = 0; r < kRowsPerWarp; ++r) {
      if (from + laneIndex() < odds && sum[r] > top[r]) {
        top[r] = sum[r];
        match[r] = from + laneIndex();
      }
    }
  }
  for (int r = 0; r < kRowsPerWarp; ++r) {
    for (int distance = kWarp / 2; distance > 0; distance /= 2) {
      const float other = __shfl_xor_sync(kAllLanes, top[r], distance);
      const int other_match = __shfl_xor_sync(kAllLanes, match[r], distance);
      if (other > top[r] || (other == top[r] && other_match < match[r])) {
        top[r] = other;
        match[r] = other_match;
      }
    }
    if (laneIndex() != 0 || first + own + r >= evens) continue;
    const int row = image.even + 2 * (first + own + r);
    best_rows[image.begin + row] = top[r] > kNoGroup ? image.odd + 2 * match[r] : row;
    similarity_rows[image.begin + row] = top[r];
  }
}

// Window w of a grid begins at this row; the others are the next, and the two below.
__device__ int firstOfWindow(int window, int width) {
  return 2 * (window / (width / 2)) * width + 2 * (window % (width / 2));
}
__device__ int windowOf(int row, int width) { return row / width / 2 * (width / 2) + row % width / 2; }

// A window's similarity stands at its first row.
__device__ void setWindow(float similarity, int first, int width, float* of_rows) {
  of_rows[first] = similarity;
  of_rows[first + 1] = of_rows[first + width] = of_rows[first + width + 1] = kNoGroup;
}

// The mean similarity of the six pairs of each window, as the CPU computes it. One warp per window.
__global__ void compareWindows(const float* x, int dim, const int* offsets, int special, int width,
                               float* similarity_rows, int* not_finite) {
  const int b = static_cast<int>(blockIdx.y), begin = offsets[b] + special;
  const int window = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (window >= (offsets[b + 1] - begin) / 4) return;
  const int first = firstOfWindow(window, width);
  const int members[] = {first, first + 1, first + width, first + width + 1};
  double inverse[4], directions = 0;
  bool finite = true;
  for (int r = 0; r < 4; ++r) {
    const double squares = squaresOf(rowOf(x, begin + members[r], dim), dim);
    finite = finite && isFinite(squares);
    inverse[r] = squares > 0 ? 1 / sqrt(squares) : 0;
    directions += squares > 0 ? 1 : 0;
  }
  requireFinite(finite, b, not_finite);
  double squares = 0;
  for (int c = laneIndex(); c < dim; c += kWarp) {
    double sum = 0;
    for (int r = 0; r < 4; ++r) sum += inverse[r] * static_cast<double>(rowOf(x, begin + members[r], dim)[c]);
    squares += sum * sum;
  }
  squares = warpSum(squares);
  if (laneIndex() != 0) return;
  setWindow(finite ? static_cast<float>((squares - directions) / 12) : kNoGroup, first, width, similarity_rows + begin);
}

__global__ void placeScores(const float* scores, int windows, const int* offsets, int special, int width,
                            float* similarity_rows, int* not_finite) {
  const int b = static_cast<int>(blockIdx.y);
  const int window = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (window >= windows) return;
  const float score = scores[b * windows + window];
  const bool finite = fabsf(score) < -kNoGroup;
  if (!finite) atomicMax(not_finite, b + 1);
  setWindow(finite ? score : kNoGroup, firstOfWindow(window, width), width, similarity_rows + offsets[b] + special);
}

// Numbers the clusters: the even rows that are left, then the odd ones, and each other even row joins its best match.
// One block per image.
__global__ void __launch_bounds__(kScanThreads)
    numberMatches(const int* best_rows, const int* offsets, int special, int* cluster_rows, int* live) {
  int* const totals = static_cast<int*>(sharedMemory());  // {kScanWarps}
  const int b = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const Halves image = halvesOf(offsets, special, b);
  const int* const best = best_rows + image.begin;
  int* const cluster = cluster_rows + image.begin;
  int numbered = 0;
  for (const int half : {image.even, image.odd}) {
    for (int from = half; from < image.rows; from += 2 * kScanThreads) {
      const int i = from + 2 * thread;
      const bool stays = i < image.rows && best[i] == i;
      const int number = numberOf(stays, totals, numbered);
      if (stays) cluster[i] = number;
    }
  }
  __syncthreads();  // all clusters of odd rows are written
  for (int i = image.even + 2 * thread; i < image.rows; i += 2 * kScanThreads) {
    if (best[i] != i) cluster[i] = cluster[best[i]];
  }
  if (thread == 0) live[b] = numbered;
}

// Numbers the clusters: windows that merge by falling similarity, then the other rows in raster order. `ahead_rows`:
// at the first row of each window its number, or -1. One block per image.
__global__ void __launch_bounds__(kScanThreads)
    numberWindows(const int* ahead_rows, int width, const int* offsets, int special, int* cluster_rows, int* live) {
  int* const totals = static_cast<int*>(sharedMemory());  // {kScanWarps}
  const int b = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const int begin = offsets[b] + special, n = offsets[b + 1] - begin;
  const int* const ahead = ahead_rows + begin;
  int* const cluster = cluster_rows + begin;
  int numbered = 0;
  for (int from = 0; from < n / 4; from += kScanThreads) {
    const int window = from + thread;
    numberOf(window < n / 4 && ahead[firstOfWindow(window, width)] >= 0, totals, numbered);
  }
  for (int from = 0; from < n; from += kScanThreads) {
    const int i = from + thread;
    const int of_window = i < n ? ahead[firstOfWindow(windowOf(i, width), width)] : 0;
    const int number = numberOf(i < n && of_window < 0, totals, numbered);
    if (i < n) cluster[i] = of_window < 0 ? number : of_window;
  }
  if (thread == 0) live[b] = numbered;
}

struct Averages {
  const float* x;
  int dim, special, patches;
  bool weighted;
  const int *before, *after;  // offsets
  const int* cluster_rows;
  const int* sizes_before;
  const float* shared;  // {batch, patches / 4, dim}, or null
  int width;            // of the grid, with `shared`
  int* sizes_after;
  float* merged;

  bool operator==(const Averages&) const = default;
};

// body(row) for each image row of a cluster, the last one first, as the CPU adds them.
template <typename Body>
__device__ void forMembers(const int* cluster, int rows, int id, Body body) {
  for (int from = (rows - 1) / kWarp * kWarp; from >= 0; from -= kWarp) {
    const int row = from + laneIndex();
    unsigned members = __ballot_sync(kAllLanes, row < rows && cluster[row] == id);
    while (members != 0) {
      const int last = kWarp - 1 - __clz(static_cast<int>(members));
      body(from + last);
      members ^= 1u << last;
    }
  }
}

// One warp per row of the result: a copy of a special row, or the mean of the members of a cluster, in double.
__global__ void averageMembers(Averages work) {
  const int b = static_cast<int>(blockIdx.y), lane = laneIndex();
  const int k = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (k >= work.after[b + 1] - work.after[b]) return;
  const int dim = work.dim, begin = work.before[b] + work.special, rows = work.before[b + 1] - begin;
  float* const to = rowOf(work.merged, work.after[b] + k, dim);
  if (k < work.special) return copyRow(rowOf(work.x, work.before[b] + k, dim), to, dim);
  const int* const sizes = work.sizes_before + b * work.patches;
  const int* const cluster = work.cluster_rows + begin;
  const int id = k - work.special;
  int members = 0, patches = 0, first = 0;
  forMembers(cluster, rows, id, [&](int row) {
    ++members;
    patches += sizes[row];
    first = row;
  });
  if (lane == 0) work.sizes_after[b * work.patches + id] = patches;
  if (members == 1) return copyRow(rowOf(work.x, begin + first, dim), to, dim);
  if (work.shared != nullptr) {
    const int window = b * (work.patches / 4) + windowOf(first, work.width);
    return copyRow(rowOf(work.shared, window, dim), to, dim);
  }
  const double total = work.weighted ? patches : members;
  for (int columns = lane; columns - lane < dim; columns += kColumns * kWarp) {
    double sum[kColumns] = {};
    forMembers(cluster, rows, id, [&](int row) {
      const double weight = work.weighted ? sizes[row] : 1;
      const float* const from = rowOf(work.x, begin + row, dim);
      for (int e = 0; e < kColumns; ++e) {
        const int c = columns + e * kWarp;
        if (c < dim) sum[e] += weight * static_cast<double>(from[c]);
      }
    });
    for (int e = 0; e < kColumns; ++e) {
      const int c = columns + e * kWarp;
      if (c < dim) to[c] = static_cast<float>(sum[e] / total);
    }
  }
}

}  // namespace

void GroupMerge::run(const Stream& stream, const MergeRule& rule, const Compared& compared, const float* x, int dim,
                     TokenState& state, float* merged) {
  const Ragged rows = state.rows_;
  const auto batch = static_cast<unsigned>(rows.batch);
  const int special = state.special_, patches = state.patches_, width = rule.grid_width;
  const bool matches = rule.groups == MergeGroups::kEvenOdd, scored = rule.groups == MergeGroups::kScoredWindows;
  if (!matches && std::any_of(state.live_.begin(), state.live_.end(), [&](int live) { return live != patches; }))
    throw Error("windows need the full grid, but tokens were merged before");
  float* const similarity = similarity_.atLeast(stream, size(rows.total));
  int* const choice = choice_.atLeast(stream, size(rows.total));
  int* const cluster = cluster_.atLeast(stream, size(rows.total) + size(rows.batch));
  int* const live = cluster + rows.total;
  int* const not_finite = state.not_finite_.data();
  if (matches) {
    float* const units = units_.atLeast(stream, area(rows.total, compared.metric_dim));
    launch(scaleRows, Grid{piecesOf(rows.longest, kWarps), batch}, kThreads, 0, stream, compared.metric,
           compared.metric_dim, rows.offsets, special, units, not_finite);
    launch(matchRows, Grid{piecesOf((rows.longest + 1) / 2, kTile), batch}, kThreads,
           2 * kTile * (kTile + 1) * sizeof(float), stream, static_cast<const float*>(units), compared.metric_dim,
           rows.offsets, special, choice, similarity);
    chooseGroups(stream, rule, true, state, similarity, choice, nullptr);
    launch(numberMatches, Grid{batch}, kScanThreads, kScanWarps * sizeof(int), stream, static_cast<const int*>(choice),
           rows.offsets, special, cluster, live);
  } else {
    MergeRule limits = rule;
    if (scored) {
      limits.similarity = -std::numeric_limits<float>::infinity();
      limits.deviations = -1;
      launch(placeScores, Grid{piecesOf(patches / 4, kThreads), batch}, kThreads, 0, stream, compared.scores,
             patches / 4, rows.offsets, special, width, similarity, not_finite);
    } else {
      launch(compareWindows, Grid{piecesOf(patches / 4, kWarps), batch}, kThreads, 0, stream, compared.metric,
             compared.metric_dim, rows.offsets, special, width, similarity, not_finite);
    }
    // The number of a window is that of the windows ahead of it.
    chooseGroups(stream, limits, false, state, similarity, nullptr, choice);
    launch(numberWindows, Grid{batch}, kScanThreads, kScanWarps * sizeof(int), stream, static_cast<const int*>(choice),
           width, rows.offsets, special, cluster, live);
  }
  Averages averages{};
  averages.x = x;
  averages.dim = dim;
  averages.special = special;
  averages.patches = patches;
  averages.weighted = rule.weighted;
  averages.before = rows.offsets;
  averages.cluster_rows = cluster;
  averages.sizes_before = state.sizes();
  averages.shared = scored ? compared.shared : nullptr;
  averages.width = width;
  averages.merged = merged;
  state.become(stream, cluster, live);
  averages.after = state.rows_.offsets;
  averages.sizes_after = state.sizes_[state.current_].data();
  launch(averageMembers, Grid{piecesOf(rows.longest, kWarps), batch}, kThreads, 0, stream, averages);
}

}  // namespace mpm::cuda
