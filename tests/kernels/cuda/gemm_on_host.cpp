// SPDX-License-Identifier: Apache-2.0
// The GEMM library of the emulation: plain loops.
#include "kernels/cuda/gemm.h"

#include <bit>

#include "kernels/cuda/device_values.h"
#include "kernels/cuda/platform.cuh"

namespace mpm::cuda {
namespace {

float load(Number number, const void* values, std::size_t index) {
  if (number == Number::kFloat) return static_cast<const float*>(values)[index];
  if (number == Number::kHalf) return test::widened(static_cast<const Half*>(values)[index]);
  return test::widened(static_cast<const Bfloat*>(values)[index]);
}

void store(Number number, void* values, std::size_t index, float value) {
  if (number == Number::kFloat) static_cast<float*>(values)[index] = value;
  if (number == Number::kHalf) static_cast<Half*>(values)[index] = test::narrowed<Half>(value);
  if (number == Number::kBfloat) static_cast<Bfloat*>(values)[index] = test::narrowed<Bfloat>(value);
}

/// As tensor cores read floats: the lower 13 bits of the mantissa do not count.
float truncated(float value) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffffe000u); }

void multiply(const Gemm::Call& call) {
  const Number operand = operandOf(call.precision);
  const Number result = call.into == Into::kOperand ? operand : Number::kFloat;
  const auto in = static_cast<std::size_t>(call.in), out = static_cast<std::size_t>(call.out);
  for (std::size_t r = 0; r < static_cast<std::size_t>(call.rows); ++r) {
    for (std::size_t o = 0; o < out; ++o) {
      float sum = 0;
      for (std::size_t k = 0; k < in; ++k) {
        const float x = load(operand, call.x, r * in + k), w = load(operand, call.weight, o * in + k);
        sum += call.precision == Precision::kTf32 ? truncated(x) * truncated(w) : x * w;
      }
      if (call.bias != nullptr) sum += load(result, call.bias, o);
      if (call.into == Into::kAddToFloat) sum += load(result, call.y, r * out + o);
      store(result, call.y, r * out + o, sum);
    }
  }
}

}  // namespace

struct Gemm::Impl {};
struct Gemm::Product {
  Call call;

  bool operator==(const Product&) const = default;
  void run(const Stream& stream) const {
    on_host::perform(stream, [wanted = call] { multiply(wanted); });
  }
};
Gemm::Gemm(const Stream&) {}
Gemm::~Gemm() = default;
Gemm::Gemm(Gemm&&) noexcept = default;
Gemm& Gemm::operator=(Gemm&&) noexcept = default;

long long Gemm::biasKernels() const { return 0; }
long long Gemm::refusedShapes() const { return 0; }

void Gemm::run(const Stream& stream, const Call& call) {
  if (call.rows > 0) enqueue(stream, Product{call});
}

}  // namespace mpm::cuda
