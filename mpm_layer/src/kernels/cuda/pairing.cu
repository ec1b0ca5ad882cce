// SPDX-License-Identifier: Apache-2.0
// All similarities are computed in fp16 on the tensor cores. The few that fp16 cannot distinguish from the best are
// computed again in fp32.
//
// Let u_i be row i scaled to length 1 in fp32, h_i = fp16(u_i), and D_ij the fp32 dot product of u_i and u_j, which
// decides (in a fixed order of operations that is symmetric in i and j: identical rows tie to the bit). T_ij is
// the result of the tensor cores for <h_i, h_j>. With e_i = |u_i - h_i| (2-norm, computed, about 2e-4) and |u_i| <= 1 +
// 2^-22:
//
//   |<h_i, h_j> - <u_i, u_j>| = |<h_i - u_i, h_j> + <u_i, h_j - u_j>| <= e_i |h_j| + |u_i| e_j
//                             <= (e_i + e_j + e_i e_j)(1 + 2^-22), and e_i <= 2^-11, so e_i e_j <= 2^-12 (e_i + e_j)
//
// Tensor cores multiply exactly and add in fp32, aligned to the largest summand and cut off: every summand of a step,
// and its result, is off by at most 2^-23 of the largest, which is at most sum_k |h_ik h_jk| <= 1 + 2^-9. A step adds
// at least 8 products to the sum so far, so |T_ij - <h_i, h_j>| <= 10/8 d 2^-23 (1 + 2^-9) < d 2^-22. The fp32 dot
// product adds up to d/32 + 4 products per lane, then 5 times two lanes: |D_ij - <u_i, u_j>| < (d + 300) 2^-29.
// Together, with a margin for the roundings of the sums and differences below (each at most 2^-23):
//
//   |T_ij - D_ij| <= e_i + e_j + s, where e is scaled by 1 + 2^-9 when it is stored and s = (d + 32) 2^-22 * 9/8
//
// So D_ij >= T_ij - e_j - e_i - s for every j, and j can be the best of i only if
// T_ij + e_j + e_i + s >= max_k (T_ik - e_k) - e_i - s. Those j are candidates; on real images 1.03 per row.
#include "kernels/cuda/pairing.h"

#include <algorithm>

#include "kernels/cuda/similarity_tile.cuh"

namespace mpm::cuda {
namespace {

using Candidate = Neighbours::Candidate;

constexpr int kPadding = 64;        // rows of halves are padded to a multiple of this, a stage of any products
constexpr int kCandidates = kWarp;  // per row; a row with more is compared with all rows
constexpr int kRowThreads = 256;

// row * scale * inverse has length 1. `scale` is a power of two, 1 unless the norm is extreme. A zero row has inverse
// 0.
struct Factor {
  float scale, inverse;
};

struct Work {
  const float* x;
  int dim, padded, special;
  Ragged rows;
  Half* halves;
  Factor* factors;
  float* errors;
  unsigned* bounds;  // orderedBits(max_k (T_ik - e_k)); 0 before the first
  int* counts;
  Candidate* candidates;
  int* crowded;  // {1 + rows}: the number of rows with too many candidates, and their indices

  bool operator==(const Work&) const = default;
};

// Rows of an image without its special rows.
struct Image {
  int first, rows;
};

__device__ Image imageOf(const Work& work, int image) {
  const int begin = work.rows.offsets[image] + work.special;
  return {begin, work.rows.offsets[image + 1] - begin};
}

__device__ float slack(int dim) { return 1.125f * 0x1p-22f * static_cast<float>(dim + 32); }

__device__ float4 unitRow(const float* row, Factor f, int dim, int k) {
  const float4 v = loadFour(row, dim, k);
  return make_float4(v.x * f.scale * f.inverse, v.y * f.scale * f.inverse, v.z * f.scale * f.inverse,
                     v.w * f.scale * f.inverse);
}

__device__ Factor factorOf(double squares) {
  if (squares == 0) return {1.0f, 0.0f};
  if (squares > 1e-36 && squares < 1e36) return {1.0f, static_cast<float>(1 / sqrt(squares))};
  const double norm = sqrt(squares);
  int exponent = -ilogb(norm);
  exponent = exponent < -126 ? -126 : exponent > 126 ? 126 : exponent;
  const float scale = ldexpf(1.0f, exponent);
  return {scale, static_cast<float>(1 / (norm * static_cast<double>(scale)))};
}

__device__ float squared(float x) { return x * x; }

__global__ void prepareRows(Work work, int* not_finite) {
  const Image image = imageOf(work, static_cast<int>(blockIdx.y));
  const int i = static_cast<int>(blockIdx.x) * (kRowThreads / kWarp) + warpIndex();
  if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) work.crowded[0] = 0;
  if (i >= image.rows) return;
  const int r = image.first + i, lane = laneIndex();
  const float* row = rowOf(work.x, r, work.dim);
  double squares = 0;
  for (int k = 4 * lane; k < work.dim; k += 4 * kWarp) {
    const float4 v = loadFour(row, work.dim, k);
    squares += static_cast<double>(v.x) * v.x + static_cast<double>(v.y) * v.y + static_cast<double>(v.z) * v.z +
               static_cast<double>(v.w) * v.w;
  }
  squares = warpSum(squares);
  const bool finite = squares < 1e300;  // a sum of squares of floats is always smaller
  if (!finite && lane == 0) atomicMax(not_finite, static_cast<int>(blockIdx.y) + 1);
  const Factor factor = finite ? factorOf(squares) : Factor{1.0f, 0.0f};
  float error = 0;
  Half* halves = rowOf(work.halves, r, work.padded);
  for (int k = 4 * lane; k < work.padded; k += 4 * kWarp) {
    const float4 u = finite ? unitRow(row, factor, work.dim, k) : make_float4(0, 0, 0, 0);
    const Half h[4] = {fromFloat<Half>(u.x), fromFloat<Half>(u.y), fromFloat<Half>(u.z), fromFloat<Half>(u.w)};
    error += squared(u.x - toFloat(h[0])) + squared(u.y - toFloat(h[1])) + squared(u.z - toFloat(h[2])) +
             squared(u.w - toFloat(h[3]));
    storeFour(halves + k, h);
  }
  error = warpSum(error);
  if (lane != 0) return;
  work.factors[r] = factor;
  // 2^-8 covers the rounding of the sum (a row of 10^4 columns adds 2^-11 of it) and the factors of the derivation.
  work.errors[r] = sqrtf(error) * (1 + 0x1p-8f) + 0x1p-40f;
  work.bounds[r] = 0;
  work.counts[r] = 0;
}

__device__ void addCandidate(const Work& work, int row, const Candidate& candidate) {
  const int slot = atomicAdd(work.counts + row, 1);
  if (slot < kCandidates) rowOf(work.candidates, row, kCandidates)[slot] = candidate;
}

// Candidates are gathered in shared memory first, because an atomic addition there is answered ten times sooner.
struct TileEnds {
  static constexpr int kFound = 8;  // a row that finds more adds them to the global list itself
  float error[2][kTile];
  unsigned best[2][kTile];
  float threshold[2][kTile];
  int counts[2][kTile];
  Candidate found[2][kTile][kFound];
};

// One block per pair of tiles I <= J of one image: similarities of rows of I with rows of J. The bound of a row is
// raised by each of its tiles. A tile compares with the bound so far, so no candidate is missed. Additional ones, which
// depend on the order of the tiles, are dropped by decide().
template <class Products>
__global__ void __launch_bounds__(Products::kThreads, 2) compareTiles(Work work) {
  constexpr int kM = Products::kM, kN = Products::kN;
  const Image image = imageOf(work, static_cast<int>(blockIdx.y));
  const int pair = static_cast<int>(blockIdx.x);
  const int tiles = (image.rows + kTile - 1) / kTile;
  if (image.rows <= 0 || pair >= tiles * (tiles + 1) / 2) return;
  int tile_j = static_cast<int>((sqrtf(8.0f * static_cast<float>(pair) + 1) - 1) / 2);
  while (tile_j * (tile_j + 1) / 2 > pair) --tile_j;
  while ((tile_j + 1) * (tile_j + 2) / 2 <= pair) ++tile_j;
  const int tile_i = pair - tile_j * (tile_j + 1) / 2;
  const int begin[2] = {tile_i * kTile, tile_j * kTile};
  const bool diagonal = tile_i == tile_j;

  Similarities<Products> sum = {};
  const Half* rows = rowOf(work.halves, image.first, work.padded);
  multiplyTiles<Products>({rows, work.padded, image.rows, {begin[0], begin[1]}}, sum);

  __syncthreads();  // the stages become TileEnds
  TileEnds& ends = *static_cast<TileEnds*>(sharedMemory());
  const int i = static_cast<int>(threadIdx.x) % kTile;
  for (int side = static_cast<int>(threadIdx.x) / kTile; side < 2; side += Products::kThreads / kTile) {
    const int r = (side == 0 ? begin[0] : begin[1]) + i;
    ends.error[side][i] = r < image.rows ? work.errors[image.first + r] : 0.0f;
    ends.best[side][i] = 0;
    ends.counts[side][i] = 0;
  }
  __syncthreads();
  const int lane = laneIndex(), g = lane / 4, t = lane % 4;
  constexpr float kNone = -8.0f;  // below every T_ij - e_j and every threshold
  if (diagonal || begin[0] + kTile > image.rows || begin[1] + kTile > image.rows) {
#pragma unroll
    for (int m = 0; m < kM; ++m)
#pragma unroll
      for (int n = 0; n < kN; ++n) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int row = Products::row(m, e / 2), column = Products::column(n, e % 2);
          if (begin[0] + row >= image.rows || begin[1] + column >= image.rows || (diagonal && row == column))
            sum[m][n][e] = kNone;
        }
      }
  }
  float row_error[kM][2], row_best[kM][2], row_threshold[kM][2];
#pragma unroll
  for (int m = 0; m < kM; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      row_error[m][half] = ends.error[0][Products::row(m, half)];
      row_best[m][half] = kNone;
    }
  }
#pragma unroll
  for (int n = 0; n < kN; ++n)
#pragma unroll
    for (int parity = 0; parity < 2; ++parity) {
      const int column = Products::column(n, parity);
      const float error = ends.error[1][column];
      float best = kNone;
#pragma unroll
      for (int m = 0; m < kM; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float similarity = sum[m][n][2 * half + parity];
          row_best[m][half] = fmaxf(row_best[m][half], similarity - error);
          best = fmaxf(best, similarity - row_error[m][half]);
        }
      }
      if (diagonal) continue;
      for (int distance = 4; distance < kWarp; distance *= 2)
        best = fmaxf(best, __shfl_xor_sync(kAllLanes, best, distance));
      if (g == 0 && best > kNone) atomicMax(&ends.best[1][column], orderedBits(best));
    }
#pragma unroll
  for (int m = 0; m < kM; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float best = row_best[m][half];
      best = fmaxf(best, __shfl_xor_sync(kAllLanes, best, 1));
      best = fmaxf(best, __shfl_xor_sync(kAllLanes, best, 2));
      if (t == 0 && best > kNone) atomicMax(&ends.best[0][Products::row(m, half)], orderedBits(best));
    }
  }
  __syncthreads();
  for (int side = static_cast<int>(threadIdx.x) / kTile; side < 2; side += Products::kThreads / kTile) {
    const unsigned mine = ends.best[side][i];
    // 8 is above every T_ij + e_j. It stays for the columns of a diagonal tile, which are also its rows.
    float threshold = 8.0f;
    if (mine != 0) {
      const int r = image.first + (side == 0 ? begin[0] : begin[1]) + i;
      const unsigned before = atomicMax(work.bounds + r, mine);
      threshold = fromOrderedBits(before > mine ? before : mine) - 2 * (ends.error[side][i] + slack(work.padded));
    }
    ends.threshold[side][i] = threshold;
  }
  __syncthreads();
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) row_threshold[m][half] = ends.threshold[0][Products::row(m, half)];
  const auto add = [&](int side, int at, const Candidate& candidate) {
    const int slot = atomicAdd(&ends.counts[side][at], 1);
    if (slot < TileEnds::kFound)
      ends.found[side][at][slot] = candidate;
    else
      addCandidate(work, image.first + (side == 0 ? begin[0] : begin[1]) + at, candidate);
  };
#pragma unroll
  for (int n = 0; n < kN; ++n) {
    const int columns[2] = {Products::column(n, 0), Products::column(n, 1)};
    const float error[2] = {ends.error[1][columns[0]], ends.error[1][columns[1]]};
    const float threshold[2] = {ends.threshold[1][columns[0]], ends.threshold[1][columns[1]]};
#pragma unroll
    for (int m = 0; m < kM; ++m) {
      bool any = false;  // rarely true, so test four similarities at once
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        any |= (sum[m][n][e] + error[e % 2] >= row_threshold[m][e / 2]) |
               (sum[m][n][e] + row_error[m][e / 2] >= threshold[e % 2]);
      }
      if (!any) continue;
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int row = Products::row(m, e / 2), column = columns[e % 2];
        const float above_row = sum[m][n][e] + error[e % 2], above_column = sum[m][n][e] + row_error[m][e / 2];
        if (above_row >= row_threshold[m][e / 2]) add(0, row, {begin[1] + column, above_row});
        if (above_column >= threshold[e % 2]) add(1, column, {begin[0] + row, above_column});
      }
    }
  }
  __syncthreads();
  for (int side = static_cast<int>(threadIdx.x) / kTile; side < 2; side += Products::kThreads / kTile) {
    const int found = ends.counts[side][i] < TileEnds::kFound ? ends.counts[side][i] : TileEnds::kFound;
    const int r = image.first + (side == 0 ? begin[0] : begin[1]) + i;
    for (int k = 0; k < found; ++k) addCandidate(work, r, ends.found[side][i][k]);
  }
}

// D_ij, computed by one warp; every lane has the result.
__device__ float similarity(const Work& work, int row, int other) {
  const float* a = rowOf(work.x, row, work.dim);
  const float* b = rowOf(work.x, other, work.dim);
  const Factor factor_a = work.factors[row], factor_b = work.factors[other];
  float sum = 0;
  for (int k = 4 * laneIndex(); k < work.dim; k += 4 * kWarp) {
    const float4 p = unitRow(a, factor_a, work.dim, k), q = unitRow(b, factor_b, work.dim, k);
    sum = fmaf(p.x, q.x, sum);
    sum = fmaf(p.y, q.y, sum);
    sum = fmaf(p.z, q.z, sum);
    sum = fmaf(p.w, q.w, sum);
  }
  return warpSum(sum);
}

// Largest similarity, then lowest index.
__device__ unsigned long long keyOf(float similarity_of_pair, int index) {
  return static_cast<unsigned long long>(orderedBits(similarity_of_pair)) << 32 | static_cast<unsigned>(~index);
}
__device__ int indexOf(unsigned long long key) { return static_cast<int>(~static_cast<unsigned>(key)); }

__global__ void decide(Work work, int* best) {
  const Image image = imageOf(work, static_cast<int>(blockIdx.y));
  const int i = static_cast<int>(blockIdx.x) * (kRowThreads / kWarp) + warpIndex();
  if (i >= image.rows) return;
  const int r = image.first + i, lane = laneIndex();
  if (image.rows == 1 || work.factors[r].inverse == 0) {  // a zero row is equally similar to all rows
    if (lane == 0) best[r] = image.rows > 1 && i == 0 ? 1 : 0;
    return;
  }
  const int count = work.counts[r];
  if (count > kCandidates) {
    if (lane == 0) work.crowded[1 + atomicAdd(work.crowded, 1)] = r;
    return;
  }
  const Candidate mine = lane < count ? rowOf(work.candidates, r, kCandidates)[lane] : Candidate{0, -4.0f};
  const float threshold = fromOrderedBits(work.bounds[r]) - 2 * (work.errors[r] + slack(work.padded));
  unsigned open = __ballot_sync(kAllLanes, lane < count && mine.similarity >= threshold);
  unsigned long long key = 0;
  if (__popc(open) == 1) {
    key = keyOf(0.0f, __shfl_sync(kAllLanes, mine.index, __ffs(open) - 1));
  } else {
    for (; open != 0; open &= open - 1) {
      const int j = __shfl_sync(kAllLanes, mine.index, __ffs(open) - 1);
      const unsigned long long offered = keyOf(similarity(work, r, image.first + j), j);
      key = offered > key ? offered : key;
    }
  }
  if (lane == 0) best[r] = indexOf(key);
}

// Rows with too many candidates, as in flat images: all similarities of a row in fp32, a block per row.
__global__ void decideCrowded(Work work, int* best) {
  auto* keys = static_cast<unsigned long long*>(sharedMemory());
  const int rows = work.crowded[0];
  for (int c = static_cast<int>(blockIdx.x); c < rows; c += static_cast<int>(gridDim.x)) {
    const int r = work.crowded[1 + c];
    int b = 0;
    while (work.rows.offsets[b + 1] <= r) ++b;
    const Image image = imageOf(work, b);
    unsigned long long key = 0;
    for (int j = warpIndex(); j < image.rows; j += kRowThreads / kWarp) {
      if (image.first + j == r) continue;
      const unsigned long long offered = keyOf(similarity(work, r, image.first + j), j);
      key = offered > key ? offered : key;
    }
    if (laneIndex() == 0) keys[warpIndex()] = key;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int w = 1; w < kRowThreads / kWarp; ++w) key = keys[w] > key ? keys[w] : key;
      best[r] = indexOf(key);
    }
    __syncthreads();
  }
}

std::size_t count(int n) { return static_cast<std::size_t>(n); }

}  // namespace

void Neighbours::find(const Stream& stream, const float* x, int dim, int special, const Ragged& rows, int* best,
                      int* not_finite) {
  if (rows.batch == 0 || rows.longest <= special) return;
  const int padded = (dim + kPadding - 1) / kPadding * kPadding;
  Work work{};
  work.x = x;
  work.dim = dim;
  work.padded = padded;
  work.special = special;
  work.rows = rows;
  work.halves = halves_.atLeast(stream, count(rows.total) * count(padded));
  work.factors = reinterpret_cast<Factor*>(factors_.atLeast(stream, 2 * count(rows.total)));
  work.errors = errors_.atLeast(stream, count(rows.total));
  work.bounds = bounds_.atLeast(stream, count(rows.total));
  work.counts = counts_.atLeast(stream, count(rows.total));
  work.candidates = candidates_.atLeast(stream, count(rows.total) * kCandidates);
  work.crowded = crowded_.atLeast(stream, 1 + count(rows.total));

  const auto batch = static_cast<unsigned>(rows.batch);
  const int longest = rows.longest - special;
  constexpr int kRowsPerBlock = kRowThreads / kWarp;
  const Grid per_row{static_cast<unsigned>((longest + kRowsPerBlock - 1) / kRowsPerBlock), batch};
  launch(prepareRows, per_row, kRowThreads, 0, stream, work, not_finite);
  const int tiles = (longest + kTile - 1) / kTile;
  const Grid per_pair{static_cast<unsigned>(tiles * (tiles + 1) / 2), batch};
  const auto compare = [&](auto products) {
    using Chosen = decltype(products);
    static_assert(kPadding % Chosen::kDepth == 0 && kStages * sizeof(Stage<Chosen>) >= sizeof(TileEnds));
    launch(compareTiles<Chosen>, per_pair, Chosen::kThreads, kStages * sizeof(Stage<Chosen>), stream, work);
  };
  if (warpgroups_ && hasWarpgroupProducts(stream.device()))
    compare(WarpgroupProducts());
  else
    compare(WarpProducts());
  launch(decide, per_row, kRowThreads, 0, stream, work, best);
  const unsigned blocks = static_cast<unsigned>(2 * stream.device().multiprocessors);
  launch(decideCrowded, Grid{std::min(blocks, static_cast<unsigned>(rows.total))}, kRowThreads,
         kRowThreads / kWarp * sizeof(unsigned long long), stream, work, best);
}

}  // namespace mpm::cuda
