// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/elementwise.h"
#include "kernels/cuda/platform.cuh"

namespace mpm::cuda {

/// exp(x) is exp2(kLog2E * x).
constexpr float kLog2E = 1.4426950408889634f;

/// body(T()) with T the type that `number` names.
template <typename Body>
void withNumber(Number number, Body body) {
  switch (number) {
    case Number::kFloat:
      return body(float());
    case Number::kHalf:
      return body(Half());
    case Number::kBfloat:
      return body(Bfloat());
  }
}

}  // namespace mpm::cuda
