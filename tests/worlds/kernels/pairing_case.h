// SPDX-License-Identifier: Apache-2.0
// Random rows and their best matches, for the CPU and for GPUs.
#pragma once

#include "trial.h"

namespace mpm::worlds {

/// Cosine of the angle of two rows; 0 for a row of zeros.
inline double similarity(const Reference& a, int i, const Reference& b, int j) {
  double dot = 0, aa = 0, bb = 0;
  for (int k = 0; k < a.cols; ++k) {
    dot += a.at(i, k) * b.at(j, k);
    aa += a.at(i, k) * a.at(i, k);
    bb += b.at(j, k) * b.at(j, k);
  }
  return aa > 0 && bb > 0 ? dot / std::sqrt(aa) / std::sqrt(bb) : 0;
}

/// Rows of which some are equal, some are zero, and now and then one is not finite.
inline std::vector<float> rowsWithTies(Trial& trial, int rows, int dim, bool& finite) {
  Random& random = trial.random;
  std::vector<float> values(static_cast<std::size_t>(rows) * dim);
  const bool lengths = random.chance(4), flat = random.chance(4);  // lengths do not count
  for (int i = 0; i < rows; ++i) {
    const float length = lengths ? random.oneOf({1e-41f, 1e-38f, 1e-30f, 1.0f, 1e30f, 5e37f}) : 1.0f;
    for (int k = 0; k < dim; ++k) values[static_cast<std::size_t>(i) * dim + k] = random.normal(length);
  }
  // Tokens of a flat region: the differences of their similarities are far below the rounding of 16 bits.
  const float spread = random.oneOf({0.1f, 0.02f, 0.005f});
  for (int i = rows - 1; i >= 0 && !lengths && flat; --i) {
    for (int k = 0; k < dim; ++k) {
      values[static_cast<std::size_t>(i) * dim + k] =
          values[static_cast<std::size_t>(k)] + spread * values[static_cast<std::size_t>(i) * dim + k];
    }
  }
  for (int i = 1; i < rows; ++i) {
    if (random.chance(6)) std::copy_n(values.begin() + random.size(0, i - 1) * dim, dim, values.begin() + i * dim);
    if (random.chance(30)) std::fill_n(values.begin() + i * dim, dim, 0.0f);
  }
  // Few different rows, so that each has more equal neighbours than a GPU has room for candidates.
  const int kinds = random.chance(6) ? random.size(1, 3) : rows;
  for (int i = kinds; i < rows; ++i) {
    std::copy_n(values.begin() + static_cast<int>(random.bits() % static_cast<unsigned>(kinds)) * dim, dim,
                values.begin() + i * dim);
  }
  if (random.chance(12)) {
    values[random.bits() % values.size()] =
        random.oneOf({std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()});
    finite = false;
  }
  return values;
}

/// best[i] is the first of those that fp32 may call nearest. `skip`: a row is not its own neighbour.
inline void checkMatches(Trial& trial, const Reference& a, const Reference& b, const int* best, const float* found,
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

}  // namespace mpm::worlds
