// SPDX-License-Identifier: Apache-2.0
// Random maps of scores and their labels, for the CPU and for GPUs.
#pragma once

#include "kernels/resample.h"
#include "trial.h"

namespace mpm::worlds {

inline AxisResampling randomAxis(Random& random, int most_inputs, int most_outputs) {
  AxisResampling axis;
  axis.inputs = random.size(1, most_inputs);
  const int outputs = random.size(1, most_outputs);
  if (random.chance(2)) return bilinearAxis(axis.inputs, outputs);
  axis.taps = random.size(1, std::min(axis.inputs, 7));
  for (int o = 0; o < outputs; ++o) {
    axis.first.push_back(o * (axis.inputs - axis.taps + 1) / outputs);
    for (int t = 0; t < axis.taps; ++t) axis.weight.push_back(0.1f + 0.5f * std::abs(random.normal(1)));
  }
  return axis;
}

inline double tap(const AxisResampling& axis, int output, int t) {
  return static_cast<double>(axis.weight[static_cast<std::size_t>(output) * axis.taps + t]);
}

struct RandomScores {
  int classes, tied;          ///< the class that all tied pixels have; -1: none ties
  std::vector<float> values;  ///< {rows.inputs * columns.inputs, classes}

  RandomScores(Trial& trial, const AxisResampling& rows, const AxisResampling& columns, int most)
      : classes(trial.random.size(1, trial.random.chance(4) && rows.outputs() * columns.outputs() < 500 ? most : 60)) {
    const int cells = rows.inputs * columns.inputs, kind = trial.random.size(0, 4),
              front = trial.random.size(0, classes - 1);
    values = trial.memory.normal(static_cast<std::size_t>(cells) * classes);
    tied = kind == 1 ? front : -1;
    for (int i = 0; i < cells; ++i) {
      float* const cell = values.data() + static_cast<std::ptrdiff_t>(i) * classes;
      // Regions of one class, whose inner pixels are filled without a comparison.
      if (kind == 0) cell[(front + i % columns.inputs / 3) % classes] += 5;
      // Ties, behind classes that have less.
      if (kind == 1)
        for (int c = 0; c < classes; ++c) cell[c] = c < front ? -5.0f : cell[front];
    }
  }

  template <typename T>
  void check(Trial& trial, MatrixView<const float> scores, const AxisResampling& rows, const AxisResampling& columns,
             const T* labels, int stride) const {
    for (int y = 0; y < rows.outputs(); ++y) {
      for (int x = 0; x < columns.outputs(); ++x) {
        const auto found = static_cast<int>(labels[y * stride + x]);
        if (tied >= 0) trial.require(found == tied, "gives another class than the first of equal ones");
        if (found < 0 || found >= classes) return trial.require(false, "gives a class that is none");
        const double logit = test::logitAt(scores, rows, columns, y, x, found);
        for (int c = 0; c < classes; ++c) {
          trial.require(test::logitAt(scores, rows, columns, y, x, c) <= logit + 2e-5 * (1 + std::abs(logit)),
                        "gives a class with a smaller score");
        }
      }
    }
  }
};

}  // namespace mpm::worlds
