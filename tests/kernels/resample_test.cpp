// SPDX-License-Identifier: Apache-2.0
#include "kernels/resample.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mpm {
namespace {

// Weight of input `i` for output `o` from the definition: half-pixel centres, edges clamped.
double bilinearWeight(int inputs, int outputs, int o, int i) {
  const double at = std::min(std::max((o + 0.5) * inputs / outputs - 0.5, 0.0), static_cast<double>(inputs - 1));
  return std::max(0.0, 1 - std::abs(at - i));
}

double weightOf(const AxisResampling& axis, int o, int i) {
  const int t = i - axis.first[o];
  return t < 0 || t >= axis.taps ? 0 : static_cast<double>(axis.weight[o * axis.taps + t]);
}

TEST(BilinearAxis, WeightsAreTheDefinition) {
  for (const int inputs : {1, 2, 3, 7, 32})
    for (const int outputs : {1, 2, 3, 5, 16, 33, 512}) {
      const AxisResampling axis = bilinearAxis(inputs, outputs);
      ASSERT_EQ(axis.outputs(), outputs);
      ASSERT_EQ(axis.inputs, inputs);
      for (int o = 0; o < outputs; ++o) {
        ASSERT_GE(axis.first[o], 0);
        ASSERT_LE(axis.first[o] + axis.taps, inputs);
      }
      for (int o = 0; o < outputs; ++o)
        for (int i = 0; i < inputs; ++i) ASSERT_NEAR(weightOf(axis, o, i), bilinearWeight(inputs, outputs, o, i), 1e-6);
    }
}

}  // namespace
}  // namespace mpm
