// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include <cstdlib>
#include <stdexcept>

#ifdef MPM_CUDA_ON_HOST
#include "kernels/cuda/platform.cuh"
#endif

namespace mpm::cuda::worlds {
namespace {

template <typename T>
Memory uploadedAs(const std::vector<float>& exact, std::vector<float>& rounded) {
  const std::vector<T> values = test::narrowedAll<T>(exact);
  rounded = test::widenedAll(values);
  Memory memory(stream(), values.size() * sizeof(T));
  upload(stream(), values.data(), memory.data(), memory.bytes());
  stream().wait();
  return memory;
}

template <typename T>
std::vector<float> fetchedAs(const void* data, std::size_t count) {
  return test::widenedAll(fetched(stream(), static_cast<const T*>(data), count));
}

bool hasBf16() { return stream().device().major >= 8; }

}  // namespace

const Stream& stream() {
  static const Stream stream(devices().front().index);
  return stream;
}

Number anyNumber(Random& random) {
  const Number number = random.oneOf({Number::kFloat, Number::kHalf, Number::kBfloat});
  return number == Number::kBfloat && !hasBf16() ? Number::kHalf : number;
}

Precision anyPrecision(Random& random) {
  const Precision precision =
      random.oneOf({Precision::kFp32, Precision::kFp32, Precision::kTf32, Precision::kFp16, Precision::kBf16});
  return precision == Precision::kBf16 && !hasBf16() ? Precision::kFp16 : precision;
}

Values::Values(Number type, const std::vector<float>& exact) : number(type) {
  if (type == Number::kFloat) memory = uploadedAs<float>(exact, rounded);
  if (type == Number::kHalf) memory = uploadedAs<Half>(exact, rounded);
  if (type == Number::kBfloat) memory = uploadedAs<Bfloat>(exact, rounded);
}

std::vector<float> Values::now() const {
  if (number == Number::kHalf) return fetchedAs<Half>(data(), rounded.size());
  if (number == Number::kBfloat) return fetchedAs<Bfloat>(data(), rounded.size());
  return fetchedAs<float>(data(), rounded.size());
}

void nearRounded(Trial& trial, Number number, float found, double expected, double tolerance) {
  const double step = number == Number::kFloat ? 0 : number == Number::kHalf ? 0x1.01p-11 : 0x1.01p-8;
  const double rounded = step * std::abs(expected) + (number == Number::kHalf ? 0x1p-24 : 0);
  if (std::abs(static_cast<double>(found) - expected) <= rounded) return;
  trial.near(static_cast<double>(found), expected, tolerance + rounded / (1 + std::abs(expected)));
}

Packed::Packed(std::vector<int> row_counts, int columns, Number number, const std::vector<float>& all)
    : rows(std::move(row_counts)), offsets(rows.size() + 1), dim(columns), values(number, all) {
  std::partial_sum(rows.begin(), rows.end(), offsets.begin() + 1);
  device_offsets = uploaded(stream(), offsets);
  ragged = {static_cast<int>(rows.size()), device_offsets.data(), offsets.back(),
            *std::max_element(rows.begin(), rows.end())};
}

std::vector<int> imageRows(Random& random, int least, int most) {
  std::vector<int> rows;
  for (int images = random.size(1, 4); images > 0; --images) rows.push_back(random.size(least, most));
  return rows;
}

}  // namespace mpm::cuda::worlds

namespace mpm::worlds {

std::vector<Kernel> everyKernel() {
  std::vector<Kernel> all;
  for (const auto& some : {cuda::worlds::elementwiseKernels(), cuda::worlds::attentionKernels(),
                           cuda::worlds::mergingKernels(), cuda::worlds::tokenKernels(), cuda::worlds::headKernels()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

std::vector<std::string> everyMachine() {
  if (!cuda::devices().empty()) return {cuda::devices().front().name};
  if (std::getenv("MPM_REQUIRE_GPU") != nullptr) throw std::runtime_error("no usable CUDA device here");
  return {};
}

void prepare(const std::string&, [[maybe_unused]] unsigned seed) {
#ifdef MPM_CUDA_ON_HOST
  cuda::on_host::setSeed(seed % 3);
#endif
}

}  // namespace mpm::worlds
