// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "kernels/cuda/tensor.h"

namespace mpm::cuda {

/// The functions of the operator HeadReduce of docs/ops.md.
enum class DeviceReduction {
  kL1,
  kL2,
  kLogSum,
  kLogSumExp,
  kMax,
  kMean,
  kMin,
  kProd,
  kSum,
  kSumSquare,
  kArgMax,
  kArgMin,
};
/// By its name in docs/ops.md; nullopt: there is no such function.
std::optional<DeviceReduction> deviceReduction(std::string_view name);

/// y = function over some axes of x, in double. `gone`: sides of these axes, and in steps[0] their steps in x. `kept`:
/// the same of the other axes, in the order of y. `last`: ties of kArgMax and kArgMin go to the last. For these two a
/// NaN is the extreme if it is the first element, and is passed over elsewhere, as on the CPU.
void reduceElements(const Stream& stream, DeviceReduction function, bool last, const ElementLayout& kept,
                    const ElementLayout& gone, const float* x, float* y);

/// y = softmax along the middle axis of x {outer, side, inner}.
void softmaxAlong(const Stream& stream, const float* x, std::size_t outer, int side, std::size_t inner, float* y);

/// The k largest, or smallest, along the middle axis of x {outer, side, inner}, the first in front, and their indices:
/// `values`, `indices` {outer, k, inner}. Ties go to the lower index. A NaN counts as the largest.
void extremesAlong(const Stream& stream, const float* x, std::size_t outer, int side, std::size_t inner, int k,
                   bool largest, float* values, float* indices);

}  // namespace mpm::cuda
