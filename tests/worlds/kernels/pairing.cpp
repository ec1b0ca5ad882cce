// SPDX-License-Identifier: Apache-2.0
#include "kernels/pairing.h"

#include "trial.h"

namespace mpm::worlds {
namespace {

/// Cosine of the angle of two rows; 0 for a row of zeros.
double similarity(const Reference& a, int i, const Reference& b, int j) {
  double dot = 0, aa = 0, bb = 0;
  for (int k = 0; k < a.cols; ++k) {
    dot += a.at(i, k) * b.at(j, k);
    aa += a.at(i, k) * a.at(i, k);
    bb += b.at(j, k) * b.at(j, k);
  }
  return aa > 0 && bb > 0 ? dot / std::sqrt(aa) / std::sqrt(bb) : 0;
}

/// Rows of which some are equal, some are zero, and now and then one is not finite.
MatrixView<const float> rowsWithTies(Trial& trial, int rows, int dim, bool& finite) {
  Random& random = trial.random;
  std::vector<float> values(static_cast<std::size_t>(rows) * dim);
  const bool lengths = random.chance(4);  // which do not count
  for (int i = 0; i < rows; ++i) {
    const float length = lengths ? random.oneOf({1e-38f, 1e-30f, 1.0f, 1e30f}) : 1.0f;
    for (int k = 0; k < dim; ++k) values[static_cast<std::size_t>(i) * dim + k] = random.normal(length);
  }
  for (int i = 1; i < rows; ++i) {
    if (random.chance(6)) std::copy_n(values.begin() + random.size(0, i - 1) * dim, dim, values.begin() + i * dim);
    if (random.chance(30)) std::fill_n(values.begin() + i * dim, dim, 0.0f);
  }
  if (random.chance(12)) {
    values[random.bits() % values.size()] =
        random.oneOf({std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()});
    finite = false;
  }
  return {trial.memory.input<float>(values), rows, dim};
}

/// best[i] is the first of those that fp32 may call nearest. `skip`: a row is not its own neighbour.
void checkMatches(Trial& trial, const Reference& a, const Reference& b, const int* best, const float* found,
                  bool skip) {
  for (int i = 0; i < a.rows; ++i) {
    double most = -2;
    for (int j = 0; j < b.rows; ++j)
      if (!skip || i != j) most = std::max(most, similarity(a, i, b, j));
    if (best[i] < 0 || best[i] >= b.rows || (skip && b.rows > 1 && best[i] == i))
      return trial.require(false, "names a row that cannot be");
    if (skip && b.rows == 1) continue;
    const double chosen = similarity(a, i, b, best[i]);
    trial.require(chosen >= most - 2e-6, "chooses a row that is less similar");
    if (found != nullptr) trial.near(static_cast<double>(found[i]), chosen, 2e-6);
    // Equal rows tie to the bit, so the first of them is meant.
    for (int j = 0; j < best[i]; ++j) {
      bool equal = !skip || i != j;
      for (int k = 0; k < b.cols && equal; ++k) equal = b.at(j, k) == b.at(best[i], k);
      trial.require(!equal, "chooses the second of two equal rows");
    }
  }
}

void tryBestNeighbours(Trial& trial) {
  const int rows = trial.random.size(1, 200), dim = trial.random.size(1, trial.random.chance(8) ? 1100 : 100);
  bool finite = true;
  const MatrixView<const float> x = rowsWithTies(trial, rows, dim, finite);
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
  const MatrixView<const float> a = rowsWithTies(trial, rows, dim, finite),
                                b = rowsWithTies(trial, others, dim, finite);
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
  const MatrixView<const float> x = rowsWithTies(trial, height * width, dim, finite);
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
