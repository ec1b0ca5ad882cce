// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/rounding.h"

#include "cpu.h"
#include "rounded.h"

namespace mpm::worlds {
namespace {

/// Numbers of many sizes, and now and then one that is not finite.
std::vector<float> numbers(Random& random) {
  std::vector<float> values(static_cast<std::size_t>(random.size(1, 200)));
  const int exponent = random.size(-120, 100);
  for (float& value : values) value = std::ldexp(random.normal(1), exponent + random.size(-12, 0));
  if (random.chance(4))  // halfway between two numbers of bf16, or one of them
    for (float& value : values) value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffff8000u);
  if (random.chance(8)) std::fill(values.begin(), values.end(), 0.0f);
  if (random.chance(8)) {
    values[random.bits() % values.size()] =
        random.oneOf({std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()});
  }
  return values;
}

void tryToBf16(Trial& trial) {
  const std::vector<float> values = numbers(trial.random);
  auto* const to = trial.memory.output<std::uint16_t>(values.size());
  toBf16(trial.memory.input<float>(values), to, static_cast<int>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) trial.require(isBf16Of(to[i], values[i]), "is not the nearest bf16");
}

void tryToInt8(Trial& trial) {
  const std::vector<float> values = numbers(trial.random);
  auto* const to = trial.memory.output<std::int8_t>(values.size());
  const int most = trial.random.oneOf({kMaxInt8, kMaxInt7});
  const float scale = toInt8(trial.memory.input<float>(values), to, static_cast<int>(values.size()), most);
  trial.require(isInt8Of(scale, to, values, most), "is not the nearest int8 by the largest number");
}

void tryToFp16(Trial& trial) {
  const std::vector<float> values = numbers(trial.random);
  const int exponent = trial.random.size(0, 15);
  auto* const to = trial.memory.output<std::uint16_t>(values.size());
  const float scale = toFp16(trial.memory.input<float>(values), to, static_cast<int>(values.size()), exponent);
  trial.require(isFp16Of(scale, to, values, exponent), "is not the nearest fp16 times a power of two");
}

void tryRoundedToInt8(Trial& trial) {
  const MatrixView<const float> x = trial.memory.inputRows(trial.random.size(1, 9), trial.random.size(1, 90));
  Scratch<float> scratch;
  const MatrixView<const float> rounded = roundedToInt8(x, scratch);
  for (int i = 0; i < x.rows; ++i) {
    std::vector<std::int8_t> whole(static_cast<std::size_t>(x.cols));
    const float scale = toInt8(x.row(i), whole.data(), x.cols, kMaxInt8);
    for (int j = 0; j < x.cols; ++j) {
      trial.near(static_cast<double>(rounded.row(i)[j]),
                 static_cast<double>(scale) * whole[static_cast<std::size_t>(j)], 1e-6);
    }
  }
}

}  // namespace

std::vector<Kernel> roundingKernels() {
  return {{"toBf16", tryToBf16}, {"toInt8", tryToInt8}, {"toFp16", tryToFp16}, {"roundedToInt8", tryRoundedToInt8}};
}

}  // namespace mpm::worlds
