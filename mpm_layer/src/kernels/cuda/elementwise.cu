// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/elementwise.h"

#include <vector>

#include "kernels/cuda/kernel.cuh"

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

// One warp per slice. Moments in two passes, as on the CPU; L1 serves the second and third read.
template <typename X, typename Y>
__global__ void normPieces(NormCall call, const X* x, Y* y) {
  const int piece = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (piece >= call.rows * call.slices) return;
  const int r = piece / call.slices, s = piece % call.slices, dim = call.dim;
  const X* from = rowOf(x, r, call.stride) + s * dim;
  Y* to = rowOf(y, r, call.y_stride) + s * dim;
  const float* const weight = call.weight + (call.own ? s * dim : 0);
  const float* const bias = call.bias + (call.own ? s * dim : 0);
  const int begin = 4 * laneIndex(), step = 4 * kWarp;
  float sum = 0;
  for (int k = begin; k < dim; k += step) sum += sumOf(loadFour(from, dim, k));
  const float mean = call.rms ? 0.0f : warpSum(sum) / static_cast<float>(dim);
  float squares = 0;
  for (int k = begin; k < dim; k += step) {
    const float4 v = loadFour(from, dim, k);
    const float d[4] = {v.x - mean, v.y - mean, v.z - mean, v.w - mean};
    for (int e = 0; e < 4; ++e) squares += k + e < dim ? d[e] * d[e] : 0.0f;
  }
  const float scale = 1.0f / sqrtf(warpSum(squares) / static_cast<float>(dim) + call.eps);
  for (int k = begin; k < dim; k += step) {
    const float4 v = loadFour(from, dim, k), w = loadFour(weight, dim, k), b = loadFour(bias, dim, k);
    storeFour(to, dim, k,
              make_float4((v.x - mean) * scale * w.x + b.x, (v.y - mean) * scale * w.y + b.y,
                          (v.z - mean) * scale * w.z + b.z, (v.w - mean) * scale * w.w + b.w));
  }
}

// One warp per row of an image, one lane per pair of columns.
template <typename T>
__global__ void rotatePairs(RotaryCall call, std::ptrdiff_t stride, T* x) {
  const int b = static_cast<int>(blockIdx.y), begin = call.rows.offsets[b];
  const int row = begin + call.special + static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (row >= call.rows.offsets[b + 1]) return;
  const int half = call.tables * call.pairs;
  // The rows of `rotations` are packed without the special rows of this image and those before it.
  const float* cosines = rowOf(call.rotations, row - (b + 1) * call.special, 2 * half);
  for (int k = laneIndex(); k < 2 * call.heads * call.pairs; k += kWarp) {
    const int head = k / call.pairs, j = k % call.pairs;  // the heads of k follow those of q
    const int at = call.tables == 1 ? j : head % call.heads * call.pairs + j;
    const float cosine = cosines[at], sine = cosines[half + at];
    T* first = rowOf(x, row, stride) + head * call.head_dim + j;
    T* second = first + call.pairs;
    const float a = toFloat(*first), c = toFloat(*second);
    *first = fromFloat<T>(cosine * a - sine * c);
    *second = fromFloat<T>(sine * a + cosine * c);
  }
}

// One warp per row.
template <typename T>
__global__ void averageSlices(int rows, int slices, int dim, std::ptrdiff_t stride, const T* x, float* mean) {
  const int r = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (r >= rows) return;
  for (int c = laneIndex(); c < dim; c += kWarp) {
    float sum = 0;
    for (int s = 0; s < slices; ++s) sum += toFloat(rowOf(x, r, stride)[s * dim + c]);
    rowOf(mean, r, dim)[c] = sum / static_cast<float>(slices);
  }
}

// Results that are rounded to 16 bits use fast functions with errors of about 1e-7. Exact ones would take longer than
// the memory accesses.
template <typename T>
constexpr bool kRounded = sizeof(T) == 2;

template <typename T>
__device__ float timesSigmoid(float x, float argument) {
  if constexpr (kRounded<T>) return x * reciprocalFast(1.0f + exp2Fast(-kLog2E * argument));
  return x / (1.0f + expf(-argument));
}

// Abramowitz and Stegun, 7.1.26: erfc(z) = (a1 t + ... + a5 t^5) exp(-z^2) with t = 1 / (1 + p z), z >= 0.
__device__ float halfErfc(float z) {
  const float t = reciprocalFast(fmaf(0.3275911f, z, 1.0f));
  float sum = 0.5f * 1.061405429f;
  sum = fmaf(sum, t, 0.5f * -1.453152027f);
  sum = fmaf(sum, t, 0.5f * 1.421413741f);
  sum = fmaf(sum, t, 0.5f * -0.284496736f);
  sum = fmaf(sum, t, 0.5f * 0.254829592f);
  return sum * t * exp2Fast(-kLog2E * z * z);
}

template <typename T, Activation kActivation>
__device__ float activated(float x) {
  if constexpr (kActivation == Activation::kGeluErf) {
    if constexpr (kRounded<T>) {
      const float below = halfErfc(0.70710678118654752f * fabsf(x));  // share of the normal distribution beyond |x|
      return x * (x < 0 ? below : 1.0f - below);
    }
    return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
  }
  if constexpr (kActivation == Activation::kGeluTanh)
    return timesSigmoid<T>(x, x * (1.5957691216057308f + 0.07135481282f * x * x));
  if constexpr (kActivation == Activation::kGeluQuick) return timesSigmoid<T>(x, 1.702f * x);
  if constexpr (kActivation == Activation::kSilu) return timesSigmoid<T>(x, x);
  if constexpr (kActivation == Activation::kElu) return x < 0 ? expm1f(x) : x;
  if constexpr (kActivation == Activation::kMish) {  // x tanh(log(1 + e)) with e = exp(x)
    const float e = expf(fminf(x, 20.0f)), n = e * (e + 2.0f);
    return x * (n / (n + 2.0f));
  }
  if constexpr (kActivation == Activation::kHardSwish) return x * (fminf(fmaxf(x + 3.0f, 0.0f), 6.0f) / 6.0f);
  const float above = fmaxf(x, 0.0f);
  return kActivation == Activation::kReluSquared ? above * above : above;
}

// 16 bytes per thread.
template <typename T, Activation kActivation>
__global__ void activateAll(const T* x, std::size_t count, T* y) {
  constexpr std::size_t kEach = 16 / sizeof(T);
  const std::size_t begin = kEach * (static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x);
  if (begin + kEach <= count) {
    Pack<T, kEach> pack = *reinterpret_cast<const Pack<T, kEach>*>(x + begin);
#pragma unroll
    for (std::size_t e = 0; e < kEach; ++e) pack.at[e] = fromFloat<T>(activated<T, kActivation>(toFloat(pack.at[e])));
    *reinterpret_cast<Pack<T, kEach>*>(y + begin) = pack;
    return;
  }
  for (std::size_t i = begin; i < count; ++i) y[i] = fromFloat<T>(activated<T, kActivation>(toFloat(x[i])));
}

// One block per row of x, which is twice as wide as the row of y.
template <typename T, Activation kActivation>
__global__ void activateGated(const T* x, int cols, T* y) {
  const std::size_t r = blockIdx.x, width = static_cast<std::size_t>(cols);
  const T* from = x + r * 2 * width;
  for (int k = 4 * static_cast<int>(threadIdx.x); k < cols; k += 4 * kThreads) {
    const float4 v = loadFour(from, cols, k), g = loadFour(from + width, cols, k);
    storeFour(y + r * width, cols, k,
              make_float4(activated<T, kActivation>(v.x) * g.x, activated<T, kActivation>(v.y) * g.y,
                          activated<T, kActivation>(v.z) * g.z, activated<T, kActivation>(v.w) * g.w));
  }
}

template <typename T>
__global__ void addToRows(int rows, int cols, const T* bias, T* y) {
  const int r = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (r >= rows) return;
  T* row = rowOf(y, r, cols);
  for (int k = 4 * laneIndex(); k < cols; k += 4 * kWarp) {
    const float4 v = loadFour(row, cols, k), b = loadFour(bias, cols, k);
    storeFour(row, cols, k, make_float4(v.x + b.x, v.y + b.y, v.z + b.z, v.w + b.w));
  }
}

__global__ void scaleRows(int rows, int dim, float* x) {
  const int r = static_cast<int>(blockIdx.x) * kWarps + warpIndex();
  if (r >= rows) return;
  float* row = rowOf(x, r, dim);
  double squares = 0;
  for (int k = laneIndex(); k < dim; k += kWarp) squares += static_cast<double>(row[k]) * row[k];
  squares = warpSum(squares);
  const float inverse = squares > 0 ? static_cast<float>(1 / sqrt(squares)) : 0.0f;
  for (int k = laneIndex(); k < dim; k += kWarp) row[k] *= inverse;
}

template <Activation kActivation>
void activateWith(const Stream& stream, bool gated, int rows, int cols, Number number, const void* x, void* y) {
  withNumber(number, [&](auto zero) {
    using T = decltype(zero);
    const auto* from = static_cast<const T*>(x);
    auto* to = static_cast<T*>(y);
    if (gated) {
      return launch(activateGated<T, kActivation>, Grid{static_cast<unsigned>(rows)}, kThreads, 0, stream, from, cols,
                    to);
    }
    const std::size_t count = area(rows, cols);
    const auto blocks = piecesOf(count, kThreads * static_cast<int>(16 / sizeof(T)));
    launch(activateAll<T, kActivation>, Grid{blocks}, kThreads, 0, stream, from, count, to);
  });
}

}  // namespace

Number operandOf(Precision precision) {
  if (precision == Precision::kBf16) return Number::kBfloat;
  return precision == Precision::kFp16 ? Number::kHalf : Number::kFloat;
}

Precision floatPrecision(Precision precision) {
  return precision == Precision::kFp32 ? Precision::kFp32 : Precision::kTf32;
}

std::size_t bytesOf(Number number) { return number == Number::kFloat ? 4 : 2; }

void convert(const Stream& stream, const float* from, std::size_t count, Number number, void* to) {
  if (count == 0) return;
  withNumber(number, [&](auto zero) {
    using T = decltype(zero);
    launch(convertAll<T>, Grid{piecesOf(count, 4 * kThreads)}, kThreads, 0, stream, from, count, static_cast<T*>(to));
  });
}

void norm(const Stream& stream, const NormCall& call, Number x_number, const void* x, Number y_number, void* y) {
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

Norm::Norm(const Stream& stream, const NormWeights& weights, int dim, int slices)
    : weight_(uploaded(stream, std::vector<float>(weights.weight, weights.weight + area(slices, dim)))),
      bias_(uploaded(stream, std::vector<float>(weights.bias, weights.bias + area(slices, dim)))),
      eps_(weights.eps),
      rms_(weights.rms),
      own_(slices > 1),
      dim_(dim) {}

void Norm::run(const Stream& stream, int rows, Number x_number, const void* x, Number y_number, void* y) const {
  norm(stream, {rows, 1, dim_, dim_, dim_, weight_.data(), bias_.data(), eps_, rms_}, x_number, x, y_number, y);
}

void Norm::runOnSlices(const Stream& stream, int rows, int slices, int stride, Number number, void* x) const {
  norm(stream, {rows, slices, dim_, stride, stride, weight_.data(), bias_.data(), eps_, rms_, own_}, number, x, number,
       x);
}

void rotate(const Stream& stream, const RotaryCall& call, std::ptrdiff_t stride, Number number, void* x) {
  const int longest = call.rows.longest - call.special;
  if (longest <= 0) return;
  const Grid grid{piecesOf(longest, kWarps), static_cast<unsigned>(call.rows.batch)};
  withNumber(number, [&](auto zero) {
    using T = decltype(zero);
    launch(rotatePairs<T>, grid, kThreads, 0, stream, call, stride, static_cast<T*>(x));
  });
}

void meanOfSlices(const Stream& stream, int rows, int slices, int dim, std::ptrdiff_t stride, Number number,
                  const void* x, float* mean) {
  if (rows == 0) return;
  withNumber(number, [&](auto zero) {
    using T = decltype(zero);
    launch(averageSlices<T>, Grid{piecesOf(rows, kWarps)}, kThreads, 0, stream, rows, slices, dim, stride,
           static_cast<const T*>(x), mean);
  });
}

void activate(const Stream& stream, Activation activation, bool gated, int rows, int cols, Number number, const void* x,
              void* y) {
  if (rows == 0) return;
  // In the order of Activation.
  constexpr decltype(&activateWith<Activation::kRelu>) kWith[] = {
      activateWith<Activation::kGeluErf>, activateWith<Activation::kGeluTanh>, activateWith<Activation::kGeluQuick>,
      activateWith<Activation::kRelu>,    activateWith<Activation::kSilu>,     activateWith<Activation::kReluSquared>,
      activateWith<Activation::kElu>,     activateWith<Activation::kMish>,     activateWith<Activation::kHardSwish>};
  kWith[static_cast<int>(activation)](stream, gated, rows, cols, number, x, y);
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
