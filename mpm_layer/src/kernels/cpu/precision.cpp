// SPDX-License-Identifier: Apache-2.0
#include "kernels/precision.h"

#include "kernels/cpu/tiles.h"
#include "mpm/error.hpp"

namespace mpm {
void requireOnCpu(Precision precision) {
  if (precision == Precision::kFp32 || precision == Precision::kInt8) return;
  if (precision == Precision::kBf16 && cpuHasBf16()) return;
  if (precision == Precision::kFp16 && cpuHasFp16()) return;
  if (precision == Precision::kBf16)
    throw Error(
        "this CPU, or the library that multiplies here, has no bf16 arithmetic (AVX512-BF16 or AMX): use "
        "precision fp32");
  const std::string where = precision == Precision::kFp16 ? "GPUs and Arm CPUs with fp16 arithmetic" : "GPUs";
  throw Error("precision " + toString(precision) + " is for " + where + ": on this CPU use fp32" +
              (cpuHasBf16()   ? ", bf16 or int8"
               : cpuHasFp16() ? ", fp16 or int8"
                              : " or int8"));
}

Precision besideBlocks(Precision precision) {
  if (precision != Precision::kInt8) return precision;
  return cpuHasBf16() ? Precision::kBf16 : cpuHasFp16() ? Precision::kFp16 : Precision::kFp32;
}

bool cpuHasInt8() { return tileKernel(Precision::kInt8) != nullptr; }
bool cpuHasFp16() { return tileKernel(Precision::kFp16) != nullptr; }

}  // namespace mpm
