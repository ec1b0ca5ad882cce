// SPDX-License-Identifier: Apache-2.0
// Operators of heads that look at many elements for each result.
#include "kernels/cuda/reduce.h"

#include <iterator>

#include "kernels/cuda/tensor.cuh"

namespace mpm::cuda {
namespace {

using R = DeviceReduction;

// In the order of DeviceReduction.
constexpr std::string_view kNames[] = {"ReduceL1",  "ReduceL2",        "ReduceLogSum", "ReduceLogSumExp",
                                       "ReduceMax", "ReduceMean",      "ReduceMin",    "ReduceProd",
                                       "ReduceSum", "ReduceSumSquare", "ArgMax",       "ArgMin"};

template <typename T>
__device__ bool isNan(T x) {
  return x != x;
}

__device__ double startOf(R function) {
  constexpr double kLargest = __builtin_inf();
  if (function == R::kMax || function == R::kLogSumExp) return -kLargest;
  if (function == R::kMin) return kLargest;
  return function == R::kProd ? 1 : 0;
}

// What an element is worth before it is combined with others.
__device__ double worthOf(R function, double x) {
  if (function == R::kL1) return fabs(x);
  return function == R::kL2 || function == R::kSumSquare ? x * x : x;
}

__device__ double combined(R function, double a, double b) {
  if (function == R::kMax) return isNan(b) || b > a ? b : a;
  if (function == R::kMin) return isNan(b) || b < a ? b : a;
  if (function == R::kProd) return a * b;
  if (function == R::kLogSumExp) {  // of logarithms, because exp() of a large number is infinite
    if (a == b) return a + log(2.0);
    return a < b ? b + log1p(exp(a - b)) : a + log1p(exp(b - a));
  }
  return a + b;
}

__device__ double finished(R function, double value, double count) {
  if (function == R::kL2) return sqrt(value);
  if (function == R::kLogSum) return log(value);
  return function == R::kMean ? value / count : value;
}

// One warp per result.
__global__ void reduceAll(R function, ElementLayout kept, ElementLayout gone, std::size_t results, std::size_t count,
                          const float* x, float* y) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kWarps + warpIndex();
  if (i >= results) return;
  const float* const from = x + placeOf(kept, i);
  double value = startOf(function);
  for (std::size_t k = laneIndex(); k < count; k += kWarp)
    value = combined(function, value, worthOf(function, static_cast<double>(from[placeOf(gone, k)])));
  for (int distance = kWarp / 2; distance > 0; distance /= 2)
    value = combined(function, value, __shfl_xor_sync(kAllLanes, value, distance));
  if (laneIndex() == 0) y[i] = static_cast<float>(finished(function, value, static_cast<double>(count)));
}

// One warp per result.
__global__ void findExtremes(bool largest, bool last, ElementLayout kept, ElementLayout gone, std::size_t results,
                             std::size_t count, const float* x, float* y) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kWarps + warpIndex();
  if (i >= results) return;
  const float* const from = x + placeOf(kept, i);
  float best = 0;
  int index = -1;  // none yet
  const auto take = [&](float other, int at) {
    if (at < 0 || (isNan(other) && at > 0)) return;
    const bool more = index < 0 || isNan(other) || (largest ? other > best : other < best);
    if (more || (other == best && (last ? at > index : at < index))) {
      best = other;
      index = at;
    }
  };
  for (std::size_t k = laneIndex(); k < count; k += kWarp) take(from[placeOf(gone, k)], static_cast<int>(k));
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    const float other = __shfl_xor_sync(kAllLanes, best, distance);
    take(other, __shfl_xor_sync(kAllLanes, index, distance));
  }
  if (laneIndex() == 0) y[i] = static_cast<float>(index);
}

// One warp per row of {outer, inner}.
__global__ void softmaxRows(const float* x, std::size_t rows, int side, std::size_t inner, float* y) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kWarps + warpIndex();
  if (i >= rows) return;
  const std::size_t first = i / inner * side * inner + i % inner;
  float top = -__builtin_inff();
  for (int k = laneIndex(); k < side; k += kWarp) top = fmaxf(top, x[first + k * inner]);
  for (int distance = kWarp / 2; distance > 0; distance /= 2)
    top = fmaxf(top, __shfl_xor_sync(kAllLanes, top, distance));
  double sum = 0;
  for (int k = laneIndex(); k < side; k += kWarp) sum += static_cast<double>(expf(x[first + k * inner] - top));
  const auto inverse = static_cast<float>(1 / warpSum(sum));
  for (int k = laneIndex(); k < side; k += kWarp) y[first + k * inner] = expf(x[first + k * inner] - top) * inverse;
}

// One thread per element of x, which counts the elements in front of it.
__global__ void rankElements(const float* x, std::size_t count, int side, std::size_t inner, int k, bool largest,
                             float* values, float* indices) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= count) return;
  const std::size_t outer = i / inner / side, column = i % inner;
  const int own = static_cast<int>(i / inner % side);
  const float* const row = x + outer * side * inner + column;
  const auto above = [](float a, float b) { return b == b && (a != a || a > b); };
  const float value = x[i];
  int ahead = 0;
  for (int other = 0; other < side && ahead < k; ++other) {
    const float there = row[other * inner];
    const bool first = largest ? above(there, value) : above(value, there);
    const bool second = largest ? above(value, there) : above(there, value);
    ahead += first || (!second && other < own) ? 1 : 0;
  }
  if (ahead >= k) return;
  const std::size_t to = (outer * k + ahead) * inner + column;
  values[to] = value;
  indices[to] = static_cast<float>(own);
}

}  // namespace

std::optional<DeviceReduction> deviceReduction(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name) return static_cast<DeviceReduction>(i);
  return std::nullopt;
}

void reduceElements(const Stream& stream, DeviceReduction function, bool last, const ElementLayout& kept,
                    const ElementLayout& gone, const float* x, float* y) {
  const std::size_t results = countOf(kept), count = countOf(gone);
  if (results == 0) return;
  const Grid grid{piecesOf(results, kWarps)};
  if (function == R::kArgMax || function == R::kArgMin)
    launch(findExtremes, grid, kThreads, 0, stream, function == R::kArgMax, last, kept, gone, results, count, x, y);
  else
    launch(reduceAll, grid, kThreads, 0, stream, function, kept, gone, results, count, x, y);
}

void softmaxAlong(const Stream& stream, const float* x, std::size_t outer, int side, std::size_t inner, float* y) {
  if (outer * inner == 0) return;
  launch(softmaxRows, Grid{piecesOf(outer * inner, kWarps)}, kThreads, 0, stream, x, outer * inner, side, inner, y);
}

void extremesAlong(const Stream& stream, const float* x, std::size_t outer, int side, std::size_t inner, int k,
                   bool largest, float* values, float* indices) {
  const std::size_t count = outer * static_cast<std::size_t>(side) * inner;
  if (count == 0) return;
  launch(rankElements, Grid{piecesOf(count, kThreads)}, kThreads, 0, stream, x, count, side, inner, k, largest, values,
         indices);
}

}  // namespace mpm::cuda
