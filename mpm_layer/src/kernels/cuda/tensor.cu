// SPDX-License-Identifier: Apache-2.0
// Operators of heads on tensors of any shape, in fp32.
#include "kernels/cuda/tensor.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "kernels/cuda/tensor.cuh"
#include "mpm/error.hpp"

namespace mpm::cuda {
namespace {

__device__ float softplus(float a) { return fmaxf(a, 0.0f) + log1pf(expf(-fabsf(a))); }

__device__ float truth(bool value) { return value ? 1.0f : 0.0f; }

template <DeviceFunction kFunction>
__device__ float valueOf(float a, float b, float c) {
  using F = DeviceFunction;
  if constexpr (kFunction == F::kAbs) return fabsf(a);
  if constexpr (kFunction == F::kCeil) return ceilf(a);
  if constexpr (kFunction == F::kCos) return cosf(a);
  if constexpr (kFunction == F::kErf) return erff(a);
  if constexpr (kFunction == F::kExp) return expf(a);
  if constexpr (kFunction == F::kFloor) return floorf(a);
  if constexpr (kFunction == F::kHardSwish) return a * fminf(fmaxf(a / 6.0f + 0.5f, 0.0f), 1.0f);
  if constexpr (kFunction == F::kIsNan) return truth(a != a);
  if constexpr (kFunction == F::kLog) return logf(a);
  if constexpr (kFunction == F::kMish) return a * tanhf(softplus(a));
  if constexpr (kFunction == F::kNeg) return -a;
  if constexpr (kFunction == F::kNot) return truth(a == 0);
  if constexpr (kFunction == F::kReciprocal) return 1.0f / a;
  if constexpr (kFunction == F::kRelu) return a > 0 ? a : 0.0f;
  if constexpr (kFunction == F::kRound) return rintf(a);
  if constexpr (kFunction == F::kSigmoid) return 1.0f / (1.0f + expf(-a));
  if constexpr (kFunction == F::kSign) return truth(a > 0) - truth(a < 0);
  if constexpr (kFunction == F::kSin) return sinf(a);
  if constexpr (kFunction == F::kSoftplus) return softplus(a);
  if constexpr (kFunction == F::kSoftsign) return a / (1.0f + fabsf(a));
  if constexpr (kFunction == F::kSqrt) return sqrtf(a);
  if constexpr (kFunction == F::kTanh) return tanhf(a);
  if constexpr (kFunction == F::kTrunc) return truncf(a);
  if constexpr (kFunction == F::kAdd) return a + b;
  if constexpr (kFunction == F::kAnd) return truth(a != 0 && b != 0);
  if constexpr (kFunction == F::kCelu) return a > 0 ? a : b * expm1f(a / b);
  if constexpr (kFunction == F::kDiv) return a / b;
  if constexpr (kFunction == F::kEqual) return truth(a == b);
  if constexpr (kFunction == F::kFmod) return fmodf(a, b);
  if constexpr (kFunction == F::kGreater) return truth(a > b);
  if constexpr (kFunction == F::kGreaterOrEqual) return truth(a >= b);
  if constexpr (kFunction == F::kLess) return truth(a < b);
  if constexpr (kFunction == F::kLessOrEqual) return truth(a <= b);
  if constexpr (kFunction == F::kMax) return a != a || a > b ? a : b;
  if constexpr (kFunction == F::kMin) return a != a || a < b ? a : b;
  if constexpr (kFunction == F::kMod) return a - b * floorf(a / b);
  if constexpr (kFunction == F::kMul) return a * b;
  if constexpr (kFunction == F::kOr) return truth(a != 0 || b != 0);
  if constexpr (kFunction == F::kPRelu) return a < 0 ? a * b : a;
  if constexpr (kFunction == F::kPow) return powf(a, b);
  if constexpr (kFunction == F::kSub) return a - b;
  if constexpr (kFunction == F::kThresholdedRelu) return a > b ? a : 0.0f;
  if constexpr (kFunction == F::kXor) return truth((a != 0) != (b != 0));
  if constexpr (kFunction == F::kClip) return a < b ? fminf(b, c) : (a > c ? c : a);
  if constexpr (kFunction == F::kHardSigmoid) {
    const float v = b * a + c;  // NaN stays NaN
    return v < 0 ? 0.0f : (v > 1 ? 1.0f : v);
  }
  if constexpr (kFunction == F::kSelu) return c * (a > 0 ? a : b * expm1f(a));
  if constexpr (kFunction == F::kWhere) return a != 0 ? b : c;
  return a;
}

struct Operands3 {
  const float* x[3];

  bool operator==(const Operands3&) const = default;
};

template <DeviceFunction kFunction>
__global__ void mapAll(ElementLayout layout, std::size_t count, Operands3 from, float* y) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= count) return;
  long long place[3];
  findPlaces(layout, i, place);
  y[i] = valueOf<kFunction>(from.x[0][place[0]], from.x[1][place[1]], from.x[2][place[2]]);
}

template <DeviceFunction kFunction>
void mapWith(const Stream& stream, const ElementLayout& layout, std::size_t count, const Operands3& from, float* y) {
  launch(mapAll<kFunction>, Grid{piecesOf(count, kThreads)}, kThreads, 0, stream, layout, count, from, y);
}

__global__ void copyAll(const float* x, std::size_t count, std::size_t width, std::size_t stride, float* y) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) y[i / width * stride + i % width] = x[i];
}

// `weights` null: the largest.
__global__ void runWindows(const float* x, std::size_t count, int side, std::size_t inner, int places, int taps,
                           const int* indices, const float* weights, float fill, float* y) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= count) return;
  const std::size_t place = i / inner % places, outer = i / inner / places;
  const int* const chosen = indices + place * taps;
  const float* const from = x + outer * side * inner + i % inner;
  if (chosen[0] < 0) {
    y[i] = fill;
    return;
  }
  const float* const factors = weights != nullptr ? weights + place * taps : nullptr;
  float value = from[chosen[0] * inner];
  if (factors != nullptr) value *= factors[0];
  for (int t = 1; t < taps; ++t) {
    const float other = from[chosen[t] * inner];
    value = factors != nullptr ? value + factors[t] * other : (value < other ? other : value);
  }
  y[i] = value;
}

// One block per slice. Moments in two passes and double, as on the CPU.
__global__ void normaliseSlices(const float* x, std::size_t size, std::size_t width, int channels, float eps,
                                const float* scale, const float* offset, float* y) {
  auto* const sums = static_cast<double*>(sharedMemory());
  const std::size_t begin = static_cast<std::size_t>(blockIdx.x) * size;
  double sum = 0;
  for (std::size_t i = threadIdx.x; i < size; i += kThreads) sum += static_cast<double>(x[begin + i]);
  const double mean = blockSum<kWarps>(sum, sums) / static_cast<double>(size);
  double squares = 0;
  for (std::size_t i = threadIdx.x; i < size; i += kThreads) {
    const double difference = static_cast<double>(x[begin + i]) - mean;
    squares += difference * difference;
  }
  const double variance = blockSum<kWarps>(squares, sums) / static_cast<double>(size);
  const double inverse = 1.0 / sqrt(variance + static_cast<double>(eps));
  for (std::size_t i = threadIdx.x; i < size; i += kThreads) {
    const std::size_t channel = (begin + i) / width % channels;
    const auto factor = static_cast<float>(inverse * static_cast<double>(scale[channel]));
    y[begin + i] = (x[begin + i] - static_cast<float>(mean)) * factor + offset[channel];
  }
}

struct Known {
  std::string_view name;
  DeviceFunction function;
  decltype(&mapWith<DeviceFunction::kCopy>) map;
};

template <DeviceFunction kFunction>
constexpr Known known(std::string_view name) {
  return {name, kFunction, mapWith<kFunction>};
}

using F = DeviceFunction;
// In the order of DeviceFunction.
constexpr Known kFunctions[] = {
    known<F::kCopy>(""),
    known<F::kAbs>("Abs"),
    known<F::kCeil>("Ceil"),
    known<F::kCos>("Cos"),
    known<F::kErf>("Erf"),
    known<F::kExp>("Exp"),
    known<F::kFloor>("Floor"),
    known<F::kHardSwish>("HardSwish"),
    known<F::kIsNan>("IsNaN"),
    known<F::kLog>("Log"),
    known<F::kMish>("Mish"),
    known<F::kNeg>("Neg"),
    known<F::kNot>("Not"),
    known<F::kReciprocal>("Reciprocal"),
    known<F::kRelu>("Relu"),
    known<F::kRound>("Round"),
    known<F::kSigmoid>("Sigmoid"),
    known<F::kSign>("Sign"),
    known<F::kSin>("Sin"),
    known<F::kSoftplus>("Softplus"),
    known<F::kSoftsign>("Softsign"),
    known<F::kSqrt>("Sqrt"),
    known<F::kTanh>("Tanh"),
    known<F::kTrunc>("Trunc"),
    known<F::kAdd>("Add"),
    known<F::kAnd>("And"),
    known<F::kCelu>("Celu"),
    known<F::kDiv>("Div"),
    known<F::kEqual>("Equal"),
    known<F::kFmod>("Fmod"),
    known<F::kGreater>("Greater"),
    known<F::kGreaterOrEqual>("GreaterOrEqual"),
    known<F::kLess>("Less"),
    known<F::kLessOrEqual>("LessOrEqual"),
    known<F::kMax>("Max"),
    known<F::kMin>("Min"),
    known<F::kMod>("Mod"),
    known<F::kMul>("Mul"),
    known<F::kOr>("Or"),
    known<F::kPRelu>("PRelu"),
    known<F::kPow>("Pow"),
    known<F::kSub>("Sub"),
    known<F::kThresholdedRelu>("ThresholdedRelu"),
    known<F::kXor>("Xor"),
    known<F::kClip>("Clip"),
    known<F::kHardSigmoid>("HardSigmoid"),
    known<F::kSelu>("Selu"),
    known<F::kWhere>("Where"),
};

constexpr bool inOrder() {
  for (std::size_t i = 0; i < std::size(kFunctions); ++i)
    if (kFunctions[i].function != static_cast<F>(i)) return false;
  return true;
}
static_assert(inOrder());

}  // namespace

std::optional<DeviceFunction> deviceFunction(std::string_view name) {
  for (const Known& one : kFunctions)
    if (!name.empty() && one.name == name) return one.function;
  return std::nullopt;
}

void mapElements(const Stream& stream, DeviceFunction function, const ElementLayout& layout, const float* const (&x)[3],
                 float* y) {
  const std::size_t count = countOf(layout);
  if (count == 0) return;
  kFunctions[static_cast<int>(function)].map(stream, layout, count, {{x[0], x[1], x[2]}}, y);
}

void copyBlocks(const Stream& stream, const float* x, std::size_t rows, std::size_t width, std::size_t stride,
                float* y) {
  if (rows * width == 0) return;
  launch(copyAll, Grid{piecesOf(rows * width, kThreads)}, kThreads, 0, stream, x, rows * width, width, stride, y);
}

Windows::Windows(const Stream& stream, std::vector<int> indices, const std::vector<float>& weights, int taps,
                 std::optional<float> fill)
    : places_(static_cast<int>(indices.size()) / taps),
      taps_(taps),
      highest_(*std::max_element(indices.begin(), indices.end())),
      sums_(!weights.empty()),
      fill_(fill.value_or(0)),
      indices_(uploaded(stream, indices)) {
  if (const int lowest = *std::min_element(indices.begin(), indices.end()); lowest < (fill ? -1 : 0))
    throw Error("takes index " + std::to_string(lowest));
  if (sums_) weights_ = uploaded(stream, weights);
}

void Windows::run(const Stream& stream, const float* x, std::size_t outer, int side, std::size_t inner,
                  float* y) const {
  if (highest_ >= side) throw Error("takes index " + std::to_string(highest_) + " of " + std::to_string(side));
  const std::size_t count = outer * static_cast<std::size_t>(places_) * inner;
  if (count == 0) return;
  launch(runWindows, Grid{piecesOf(count, kThreads)}, kThreads, 0, stream, x, count, side, inner, places_, taps_,
         static_cast<const int*>(indices_.data()), sums_ ? static_cast<const float*>(weights_.data()) : nullptr, fill_,
         y);
}

void normaliseGroups(const Stream& stream, const float* x, std::size_t slices, std::size_t size, std::size_t width,
                     int channels, float eps, const float* scale, const float* offset, float* y) {
  if (slices * size == 0) return;
  launch(normaliseSlices, Grid{static_cast<unsigned>(slices)}, kThreads, kWarps * sizeof(double), stream, x, size,
         width, channels, eps, scale, offset, y);
}

}  // namespace mpm::cuda
