// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"

#include <iterator>

#include "cpu.h"

namespace mpm::worlds {
namespace {

Activation anActivation(Random& random) { return test::kActivations[random.bits() % std::size(test::kActivations)]; }

void tryNorm(Trial& trial) {
  const int rows = trial.random.size(1, 9), dim = trial.random.size(1, 300);
  const NormWeights weights{trial.memory.inputOf(dim), trial.memory.inputOf(dim), 1e-3f, trial.random.chance(2)};
  const bool far = trial.random.chance(3);  // from zero
  const MatrixView<const float> x =
      trial.memory.inputRows(rows, dim, trial.memory.normal(static_cast<std::size_t>(rows) * dim, 3, far ? 1000 : 0));
  const Reference expected = test::norm(Reference(x), weights);
  const MatrixView<float> y = trial.memory.outputRows(rows, dim), in_place = trial.memory.copyOf(x);
  norm(x, weights, y);
  norm(in_place, weights, in_place);
  trial.near(y, expected, far && !weights.rms ? 2e-3 : 2e-5);
  trial.same<float>(y, in_place, "gives other bytes in place");
}

void tryActivate(Trial& trial) {
  const Activation activation = anActivation(trial.random);
  const int rows = trial.random.size(1, 9), columns = trial.random.size(1, 200);
  std::vector<float> values = trial.memory.normal(static_cast<std::size_t>(rows) * columns,
                                                  trial.random.oneOf({1e-20f, 0.01f, 4.0f, 60.0f, 1e4f}));
  const auto at = trial.random.bits() % values.size();
  if (trial.random.chance(3)) values[at] = std::numeric_limits<float>::quiet_NaN();
  const MatrixView<const float> x = trial.memory.inputRows(rows, columns, values);
  const MatrixView<float> y = trial.memory.copyOf(x);
  activate(activation, y);
  Reference expected(x);
  for (double& value : expected.values) value = test::activated(activation, value);
  trial.near(y, expected, 2e-6);
  float alone = values[at];
  activate(activation, {&alone, 1, 1});
  trial.require(std::isnan(alone) || alone == y.row(static_cast<int>(at) / columns)[static_cast<int>(at) % columns],
                "gives a number another result when it is alone");
}

void tryActivateGated(Trial& trial) {
  const Activation activation = anActivation(trial.random);
  const int half = trial.random.size(1, 100);
  const MatrixView<const float> x = trial.memory.inputRows(trial.random.size(1, 9), 2 * half, 2);
  const MatrixView<float> y = trial.memory.copyOf(x);
  activateGated(activation, y);
  Reference expected(x);
  for (int i = 0; i < x.rows; ++i) {
    for (int j = 0; j < half; ++j)
      expected.at(i, j) = test::activated(activation, expected.at(i, j)) * expected.at(i, half + j);
  }
  trial.near(y, expected, 2e-6);
}

void tryGeluWithSlope(Trial& trial) {
  const MatrixView<const float> x = trial.memory.inputRows(trial.random.size(1, 9), trial.random.size(1, 200), 3);
  const MatrixView<float> y = trial.memory.copyOf(x), slope = trial.memory.outputRows(x.rows, x.cols);
  geluWithSlope(y, slope);
  Reference value(x), derivative(x);
  for (double& v : value.values) v = test::activated(Activation::kGeluErf, v);
  for (double& v : derivative.values)
    v = 0.5 * std::erfc(-v / std::sqrt(2.0)) + v * std::exp(-v * v / 2) / std::sqrt(2 * std::numbers::pi);
  trial.near(y, value, 2e-6);
  trial.near(slope, derivative, 2e-6);
}

void tryRotate(Trial& trial) {
  const int heads = trial.random.size(1, 6), tables = trial.random.chance(2) ? 1 : heads;
  const int pairs = trial.random.size(1, 20), head_dim = 2 * pairs + trial.random.size(0, 7);
  const int rows = trial.random.size(1, 9);
  const MatrixView<const float> x = trial.memory.inputRows(rows, heads * head_dim);
  const MatrixView<const float> rotations = trial.memory.inputRows(rows, 2 * tables * pairs, 0.7f);
  const MatrixView<float> y = trial.memory.copyOf(x);
  rotate(y, heads, rotations, tables);
  trial.near(y, test::rotated(Reference(x), heads, 0, rotations, tables), 2e-6);
}

void tryRowsToColumns(Trial& trial) {
  const MatrixView<const float> x = trial.memory.inputRows(trial.random.size(1, 70), trial.random.size(1, 200));
  const int column = trial.random.size(0, 9), cols = column + x.rows + trial.random.size(0, 9);
  const MatrixView<const float> before = trial.memory.inputRows(x.cols, cols);
  const MatrixView<float> y = trial.memory.copyOf(before);
  rowsToColumns(x, y, column);
  Reference expected(before);
  for (int i = 0; i < x.rows; ++i)
    for (int j = 0; j < x.cols; ++j) expected.at(j, column + i) = static_cast<double>(x.row(i)[j]);
  trial.near(y, expected, 0);
}

void tryAllFinite(Trial& trial) {
  const std::size_t count = static_cast<std::size_t>(trial.random.size(1, 300));
  std::vector<float> values(count, 3.4e38f);
  const bool finite = trial.random.chance(3);
  if (!finite) {
    values[trial.random.bits() % count] =
        trial.random.oneOf({std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()});
  }
  trial.require(allFinite(trial.memory.input<float>(values), count) == finite, "gives the other answer");
}

}  // namespace

std::vector<Kernel> elementwiseKernels() {
  return {{"norm", tryNorm},
          {"activate", tryActivate},
          {"activateGated", tryActivateGated},
          {"geluWithSlope", tryGeluWithSlope},
          {"rowsToColumns", tryRowsToColumns},
          {"rotate", tryRotate},
          {"allFinite", tryAllFinite}};
}

}  // namespace mpm::worlds
