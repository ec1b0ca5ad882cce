// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/elementwise.h"

#include <algorithm>

#include "kernels/cuda/numbers.cuh"
#include "kernels/cuda/rows.cuh"
#include "kernels/cuda/warp.cuh"

namespace mpm::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;

template <typename T>
__global__ void convertAll(const float* from, std::size_t count, T* to) {
  const std::size_t k = 4 * (static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x);
  for (std::size_t e = k; e < k + 4 && e < count; ++e) to[e] = fromFloat<T>(from[e]);
}

__global__ void searchNotFinite(const float* x, std::size_t count, int* found) {
  const std::size_t k = 4 * (static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x);
  float poison = 0;  // x - x is 0, or NaN for NaN and the infinities
  for (std::size_t e = k; e < k + 4 && e < count; ++e) poison += x[e] - x[e];
  if (poison != 0.0f || poison != poison) atomicMax(found, 1);
}

__device__ float sumOf(float4 v) { return (v.x + v.y) + (v.z + v.w); }

// A warp per piece, moments in two passes as on the CPU; the second and third reading come from L1.
template <typename X, typename Y>
__global__ void normPieces(NormCall call, const X* x, Y* y) {
  const int piece = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (piece >= call.rows * call.slices) return;
  const int r = piece / call.slices, s = piece % call.slices, dim = call.dim;
  const X* from =
      x + static_cast<std::size_t>(r) * call.stride + static_cast<std::size_t>(s) * static_cast<std::size_t>(dim);
  Y* to = y + static_cast<std::size_t>(r) * call.y_stride + static_cast<std::size_t>(s) * static_cast<std::size_t>(dim);
  const int begin = 4 * laneIndex(), step = 4 * kWarp;
  float sum = 0;
  for (int k = begin; k < dim; k += step) sum += sumOf(loadFour(from, dim, k));
  const float mean = warpSum(sum) / static_cast<float>(dim);
  float squares = 0;
  for (int k = begin; k < dim; k += step) {
    const float4 v = loadFour(from, dim, k);
    const float d[4] = {v.x - mean, v.y - mean, v.z - mean, v.w - mean};
    for (int e = 0; e < 4; ++e) squares += k + e < dim ? d[e] * d[e] : 0.0f;
  }
  const float scale = 1.0f / sqrtf(warpSum(squares) / static_cast<float>(dim) + call.eps);
  for (int k = begin; k < dim; k += step) {
    const float4 v = loadFour(from, dim, k), w = loadFour(call.weight, dim, k), b = loadFour(call.bias, dim, k);
    storeFour(to, dim, k,
              make_float4((v.x - mean) * scale * w.x + b.x, (v.y - mean) * scale * w.y + b.y,
                          (v.z - mean) * scale * w.z + b.z, (v.w - mean) * scale * w.w + b.w));
  }
}

__device__ float timesSigmoid(float x, float argument) { return x / (1.0f + expf(-argument)); }

template <Activation kActivation>
__device__ float activated(float x) {
  if constexpr (kActivation == Activation::kGeluErf) return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
  if constexpr (kActivation == Activation::kGeluTanh)
    return timesSigmoid(x, x * (1.5957691216057308f + 0.07135481282f * x * x));
  if constexpr (kActivation == Activation::kGeluQuick) return timesSigmoid(x, 1.702f * x);
  if constexpr (kActivation == Activation::kSilu) return timesSigmoid(x, x);
  return fmaxf(x, 0.0f);
}

// Four columns per thread; gated rows are twice as wide as what comes of them.
template <typename T, Activation kActivation>
__global__ void activateAll(const T* x, int rows, int cols, bool gated, T* y) {
  const int per_row = (cols + 3) / 4;
  const std::size_t index = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int r = static_cast<int>(index / static_cast<std::size_t>(per_row));
  if (r >= rows) return;
  const int k = 4 * static_cast<int>(index % static_cast<std::size_t>(per_row));
  const T* from = x + static_cast<std::size_t>(r) * static_cast<std::size_t>(gated ? 2 * cols : cols);
  float4 v = loadFour(from, cols, k);
  v = make_float4(activated<kActivation>(v.x), activated<kActivation>(v.y), activated<kActivation>(v.z),
                  activated<kActivation>(v.w));
  if (gated) {
    const float4 g = loadFour(from + cols, cols, k);
    v = make_float4(v.x * g.x, v.y * g.y, v.z * g.z, v.w * g.w);
  }
  storeFour(y + static_cast<std::size_t>(r) * static_cast<std::size_t>(cols), cols, k, v);
}

template <typename T>
__global__ void addToRows(int rows, int cols, const T* bias, T* y) {
  const int r = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (r >= rows) return;
  T* row = y + static_cast<std::size_t>(r) * static_cast<std::size_t>(cols);
  for (int k = 4 * laneIndex(); k < cols; k += 4 * kWarp) {
    const float4 v = loadFour(row, cols, k), b = loadFour(bias, cols, k);
    storeFour(row, cols, k, make_float4(v.x + b.x, v.y + b.y, v.z + b.z, v.w + b.w));
  }
}

__global__ void scaleRows(int rows, int dim, float* x) {
  const int r = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (r >= rows) return;
  float* row = x + static_cast<std::size_t>(r) * static_cast<std::size_t>(dim);
  double squares = 0;
  for (int k = laneIndex(); k < dim; k += kWarp) squares += static_cast<double>(row[k]) * static_cast<double>(row[k]);
  squares = warpSum(squares);
  const float inverse = squares > 0 ? static_cast<float>(1 / sqrt(squares)) : 0.0f;
  for (int k = laneIndex(); k < dim; k += kWarp) row[k] *= inverse;
}

template <Activation kActivation>
void activateWith(const Stream& stream, bool gated, int rows, int cols, Number number, const void* x, void* y) {
  const std::size_t threads = static_cast<std::size_t>(rows) * static_cast<std::size_t>((cols + 3) / 4);
  withNumber(number, [&](auto zero) {
    using T = decltype(zero);
    launch(activateAll<T, kActivation>, Grid{piecesOf(threads, kThreads)}, kThreads, 0, stream,
           static_cast<const T*>(x), rows, cols, gated, static_cast<T*>(y));
  });
}

}  // namespace

Number operandOf(Precision precision) {
  if (precision == Precision::kBf16) return Number::kBfloat;
  return precision == Precision::kFp16 ? Number::kHalf : Number::kFloat;
}

std::size_t bytesOf(Number number) { return number == Number::kFloat ? 4 : 2; }

void convert(const Stream& stream, const float* from, std::size_t count, Number number, void* to) {
  if (count == 0) return;
  withNumber(number, [&](auto zero) {
    using T = decltype(zero);
    launch(convertAll<T>, Grid{piecesOf(count, 4 * kThreads)}, kThreads, 0, stream, from, count, static_cast<T*>(to));
  });
}

void layerNorm(const Stream& stream, const NormCall& call, Number x_number, const void* x, Number y_number, void* y) {
  if (call.rows == 0) return;
  const Grid grid{piecesOf(area(call.rows, call.slices), kWarps)};
  withNumber(x_number, [&](auto x_zero) {
    withNumber(y_number, [&](auto y_zero) {
      using X = decltype(x_zero);
      using Y = decltype(y_zero);
      launch(normPieces<X, Y>, grid, kThreads, 0, stream, call, static_cast<const X*>(x), static_cast<Y*>(y));
    });
  });
}

void activate(const Stream& stream, Activation activation, bool gated, int rows, int cols, Number number, const void* x,
              void* y) {
  if (rows == 0) return;
  switch (activation) {
    case Activation::kGeluErf:
      return activateWith<Activation::kGeluErf>(stream, gated, rows, cols, number, x, y);
    case Activation::kGeluTanh:
      return activateWith<Activation::kGeluTanh>(stream, gated, rows, cols, number, x, y);
    case Activation::kGeluQuick:
      return activateWith<Activation::kGeluQuick>(stream, gated, rows, cols, number, x, y);
    case Activation::kRelu:
      return activateWith<Activation::kRelu>(stream, gated, rows, cols, number, x, y);
    case Activation::kSilu:
      return activateWith<Activation::kSilu>(stream, gated, rows, cols, number, x, y);
  }
}

void addBias(const Stream& stream, int rows, int cols, Number number, const void* bias, void* y) {
  if (rows == 0) return;
  withNumber(number, [&](auto zero) {
    using T = decltype(zero);
    launch(addToRows<T>, Grid{piecesOf(rows, kWarps)}, kThreads, 0, stream, rows, cols, static_cast<const T*>(bias),
           static_cast<T*>(y));
  });
}

void findNotFinite(const Stream& stream, const float* x, std::size_t count, int* found) {
  if (count == 0) return;
  launch(searchNotFinite, Grid{piecesOf(count, 4 * kThreads)}, kThreads, 0, stream, x, count, found);
}

void normaliseRows(const Stream& stream, int rows, int dim, float* x) {
  if (rows == 0) return;
  launch(scaleRows, Grid{piecesOf(rows, kWarps)}, kThreads, 0, stream, rows, dim, x);
}

}  // namespace mpm::cuda
