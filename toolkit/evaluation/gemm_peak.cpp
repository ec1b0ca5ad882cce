// SPDX-License-Identifier: Apache-2.0
#include "evaluation/gemm_peak.h"

#include <algorithm>
#include <chrono>
#include <opencv2/core/utility.hpp>
#include <random>

#include "kernels/linear.h"

namespace mpm::evaluation {
namespace {

// FLOP/s of rows x dim times dim x dim tiles, every thread on its own tiles, with the same weights.
double flopPerSecond(const PackedLinear& linear, int dim, double seconds) {
  constexpr int kRows = PackedLinear::kMaxRows;
  const int tasks = 8 * std::max(1, cv::getNumThreads());
  std::vector<float> x(static_cast<std::size_t>(kRows) * dim, 0.5f);
  double best = 0;
  const auto start = std::chrono::steady_clock::now();
  auto before = start;
  do {
    cv::parallel_for_(cv::Range(0, tasks), [&](const cv::Range& range) {
      std::vector<float> y(x.size());
      for (int task = range.start; task < range.end; ++task) linear.run({x.data(), kRows, dim}, {y.data(), kRows, dim});
    });
    const auto after = std::chrono::steady_clock::now();
    const double flop = 2.0 * kRows * dim * dim * tasks;
    best = std::max(best, flop / std::chrono::duration<double>(after - before).count());
    before = after;
  } while (std::chrono::duration<double>(before - start).count() < seconds);
  return best;
}

}  // namespace

double gemmPeak(Precision precision, double seconds) {
  constexpr int kDims[] = {192, 384, 768};  // of ViT-T, S and B: weights in L2, L2 and L3
  double best = 0;
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.05f);
  for (int dim : kDims) {
    std::vector<float> weight(static_cast<std::size_t>(dim) * dim);
    std::generate(weight.begin(), weight.end(), [&] { return normal(random); });
    const PackedLinear linear(MatrixView<const float>(weight.data(), dim, dim), nullptr, precision);
    best = std::max(best, flopPerSecond(linear, dim, seconds / std::size(kDims)));
  }
  return best;
}

}  // namespace mpm::evaluation
