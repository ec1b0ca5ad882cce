// SPDX-License-Identifier: Apache-2.0
// The GEMM library of the emulation: plain loops.
#include "kernels/cuda/gemm.h"

#include <bit>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

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

/// All of them as the products read them.
std::vector<float> operands(const Gemm::Call& call, const void* values, std::size_t count) {
  std::vector<float> floats;
  floats.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const float value = load(operandOf(call.precision), values, i);
    floats.push_back(call.precision == Precision::kTf32 ? truncated(value) : value);
  }
  return floats;
}

bool overlap(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(a), second = reinterpret_cast<std::uintptr_t>(b);
  return first < second + b_bytes && second < first + a_bytes;
}

void multiply(const Gemm::Call& call) {
  const Number result = call.into == Into::kOperand ? operandOf(call.precision) : Number::kFloat;
  const auto rows = static_cast<std::size_t>(call.rows), in = static_cast<std::size_t>(call.in),
             out = static_cast<std::size_t>(call.out);
  const std::size_t size = operandOf(call.precision) == Number::kFloat ? 4 : 2,
                    of_result = result == Number::kFloat ? 4 : 2;
  for (const auto& [operand, count] : {std::pair(call.x, rows), {call.weight, out}}) {
    if (overlap(operand, count * in * size, call.y, rows * out * of_result))
      throw std::logic_error("a product that writes over its operands");
  }
  const std::vector<float> x = operands(call, call.x, rows * in), weight = operands(call, call.weight, out * in);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t o = 0; o < out; ++o) {
      const float *const of_row = x.data() + r * in, *const of_output = weight.data() + o * in;
      float sum = 0;
      for (std::size_t k = 0; k < in; ++k) sum += of_row[k] * of_output[k];
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
