// SPDX-License-Identifier: Apache-2.0
#include "kernels/precision.h"

#include <array>
#include <utility>

#include "mpm/error.hpp"

namespace mpm {
namespace {

constexpr std::array<std::pair<Precision, const char*>, 4> kWords = {
    {{Precision::kFp32, "fp32"}, {Precision::kBf16, "bf16"}, {Precision::kTf32, "tf32"}, {Precision::kFp16, "fp16"}}};

}  // namespace

std::string toString(Precision precision) {
  for (const auto& [value, word] : kWords)
    if (value == precision) return word;
  return {};
}

Precision parsePrecision(const std::string& text) {
  for (const auto& [value, word] : kWords)
    if (text == word) return value;
  throw Error("precision '" + text + "' is not fp32, bf16, tf32 or fp16");
}

void requireOnCpu(Precision precision) {
  if (precision == Precision::kFp32 || (precision == Precision::kBf16 && cpuHasBf16())) return;
  if (precision == Precision::kBf16)
    throw Error(
        "this CPU, or the library that multiplies here, has no bf16 arithmetic (AVX512-BF16 or AMX): use "
        "precision fp32");
  throw Error("precision " + toString(precision) + " is for GPUs: on a CPU use fp32" +
              (cpuHasBf16() ? " or bf16" : ""));
}

}  // namespace mpm
