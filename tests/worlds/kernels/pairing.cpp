// SPDX-License-Identifier: Apache-2.0
#include "kernels/pairing.h"

#include "cpu.h"
#include "pairing_case.h"

namespace mpm::worlds {
namespace {

MatrixView<const float> inputWithTies(Trial& trial, int rows, int dim, bool& finite) {
  return trial.memory.inputRows(rows, dim, rowsWithTies(trial, rows, dim, finite), true);
}

void tryBestNeighbours(Trial& trial) {
  const int rows = trial.random.size(1, 200), dim = trial.random.size(1, trial.random.chance(8) ? 1100 : 100);
  bool finite = true;
  const MatrixView<const float> x = inputWithTies(trial, rows, dim, finite);
  const auto count = static_cast<std::size_t>(rows);
  int* const best = trial.memory.output<int>(count);
  int* const threaded = trial.memory.output<int>(count);
  float* const found = trial.random.chance(2) ? trial.memory.output<float>(count) : nullptr;
  const std::span<float> wanted = found != nullptr ? std::span<float>(found, count) : std::span<float>();
  trial.require(bestNeighbours(x, {best, count}, Serial(), wanted) == finite,
                "takes a NaN for a number, or a number for one");
  if (!bestNeighbours(x, {threaded, count}, trial.threads()) || !finite) return;
  trial.require(std::memcmp(best, threaded, count * sizeof(int)) == 0, kThreadsMatter);
  checkMatches(trial, Reference(x), Reference(x), best, rows > 1 ? found : nullptr, true);
}

void tryBestMatches(Trial& trial) {
  const int rows = trial.random.size(1, 150), others = trial.random.size(1, 150), dim = trial.random.size(1, 100);
  bool finite = true;
  const MatrixView<const float> a = inputWithTies(trial, rows, dim, finite),
                                b = inputWithTies(trial, others, dim, finite);
  const auto count = static_cast<std::size_t>(rows);
  int* const best = trial.memory.output<int>(count);
  int* const threaded = trial.memory.output<int>(count);
  float* const found = trial.memory.output<float>(count);
  float* const again = trial.memory.output<float>(count);
  trial.require(bestMatches(a, b, {best, count}, {found, count}, Serial()) == finite,
                "takes a NaN for a number, or a number for one");
  if (!bestMatches(a, b, {threaded, count}, {again, count}, trial.threads()) || !finite) return;
  trial.require(
      std::memcmp(best, threaded, count * sizeof(int)) == 0 && std::memcmp(found, again, count * sizeof(float)) == 0,
      kThreadsMatter);
  checkMatches(trial, Reference(a), Reference(b), best, found, false);
}

void tryWindowSimilarities(Trial& trial) {
  const int height = 2 * trial.random.size(1, 8), width = 2 * trial.random.size(1, 8), dim = trial.random.size(1, 60);
  bool finite = true;
  const MatrixView<const float> x = inputWithTies(trial, height * width, dim, finite);
  const std::size_t count = static_cast<std::size_t>(height) * width / 4;
  float* const found = trial.memory.output<float>(count);
  float* const threaded = trial.memory.output<float>(count);
  trial.require(windowSimilarities(x, width, {found, count}, Serial()) == finite,
                "takes a NaN for a number, or a number for one");
  if (!windowSimilarities(x, width, {threaded, count}, trial.threads()) || !finite) return;
  trial.require(std::memcmp(found, threaded, count * sizeof(float)) == 0, kThreadsMatter);
  const Reference all(x);
  for (int w = 0; w < static_cast<int>(count); ++w) {
    const int corner = w / (width / 2) * 2 * width + w % (width / 2) * 2;
    const int rows[] = {corner, corner + 1, corner + width, corner + width + 1};
    double sum = 0;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < i; ++j) sum += similarity(all, rows[i], all, rows[j]) / 6;
    trial.near(static_cast<double>(found[w]), sum, 2e-6);
  }
}

}  // namespace

std::vector<Kernel> pairingKernels() {
  return {{"bestNeighbours", tryBestNeighbours},
          {"bestMatches", tryBestMatches},
          {"windowSimilarities", tryWindowSimilarities}};
}

}  // namespace mpm::worlds
