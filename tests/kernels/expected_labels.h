// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "kernels/reference.h"

namespace mpm::test {

/// Each label is that of the largest logit.
template <typename Label>
void expectLabels(MatrixView<const float> scores, const AxisResampling& rows, const AxisResampling& columns,
                  const Label* labels) {
  for (int y = 0; y < rows.outputs(); ++y)
    for (int x = 0; x < columns.outputs(); ++x) {
      const auto found = static_cast<int>(labels[y * columns.outputs() + x]);
      ASSERT_GE(found, 0);
      ASSERT_LT(found, scores.cols);
      const double logit = logitAt(scores, rows, columns, y, x, found) + 1e-5;
      for (int c = 0; c < scores.cols; ++c) ASSERT_LE(logitAt(scores, rows, columns, y, x, c), logit) << y << ", " << x;
    }
}

/// An axis whose outputs are sums of any number of inputs, with positive weights as in a resize.
inline AxisResampling axisOfTaps(int inputs, int taps, int outputs) {
  AxisResampling axis;
  axis.inputs = inputs;
  axis.taps = taps;
  for (int o = 0; o < outputs; ++o) {
    axis.first.push_back(o * (inputs - taps + 1) / outputs);
    for (int t = 0; t < taps; ++t) axis.weight.push_back(0.1f * static_cast<float>(1 + (t + o) % 3));
  }
  return axis;
}

}  // namespace mpm::test
