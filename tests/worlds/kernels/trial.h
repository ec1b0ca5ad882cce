// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kernels/precision.h"
#include "kernels/reference.h"
#include "kernels/threads.h"
#include "memory.h"

namespace mpm::worlds {

using test::Reference;

/// One call of a kernel on sizes and values of a seed, and what is wrong with its result.
class Trial {
 public:
  explicit Trial(unsigned seed) : random(seed), memory(random) {}

  Random random;
  Memory memory;
  /// Some threads, for kernels whose result does not depend on their number.
  static const Parallel& threads() {
    static const test::Threads threads(3);
    return threads;
  }

  void require(bool holds, const std::string& problem) {
    if (!holds && problem_.empty()) problem_ = problem;
  }
  /// |found - expected| <= tolerance * (1 + |expected|) everywhere, and NaN where NaN is expected.
  void near(MatrixView<const float> found, const Reference& expected, double tolerance) {
    for (int i = 0; i < found.rows; ++i)
      for (int j = 0; j < found.cols; ++j) near(static_cast<double>(found.row(i)[j]), expected.at(i, j), tolerance);
  }
  void near(double found, double expected, double tolerance) {
    if (std::abs(found - expected) <= tolerance * (1 + std::abs(expected))) return;
    if (std::isnan(found) && std::isnan(expected)) return;
    require(false, "gives " + std::to_string(found) + " for " + std::to_string(expected));
  }
  /// The root mean square of the differences is at most this part of that of what `expected` adds to `from`, and not as
  /// small as that of fp32.
  void close(MatrixView<const float> found, const Reference& expected, const Reference& from, double part) {
    double error = 0, change = 0;
    for (int i = 0; i < found.rows; ++i)
      for (int j = 0; j < found.cols; ++j) {
        error += std::pow(static_cast<double>(found.row(i)[j]) - expected.at(i, j), 2);
        change += std::pow(expected.at(i, j) - from.at(i, j), 2);
      }
    require(error <= part * part * change, "is off by " + std::to_string(std::sqrt(error / change)) + " of its size");
    require(error >= 1e-10 * change, "computes in fp32");
  }
  template <typename T>
  void same(MatrixView<const T> found, MatrixView<const T> expected, const std::string& problem) {
    for (int i = 0; i < found.rows; ++i)
      require(std::memcmp(found.row(i), expected.row(i), sizeof(T) * static_cast<std::size_t>(found.cols)) == 0,
              problem);
  }

  /// The first thing that is wrong; empty: nothing.
  std::string problem() const { return problem_.empty() ? memory.damage() : problem_; }

 private:
  std::string problem_;
};

/// Whether this CPU multiplies in this precision.
inline bool isHere(Precision precision) {
  return (precision != Precision::kBf16 || cpuHasBf16()) && (precision != Precision::kFp16 || cpuHasFp16());
}

inline constexpr const char* kThreadsMatter = "gives other bytes with three threads";

struct Kernel {
  const char* name;  ///< of the function or class in mpm_layer/src/kernels, and after a space what is special here
  void (*trial)(Trial&);
};

std::vector<Kernel> elementwiseKernels();
std::vector<Kernel> roundingKernels();
std::vector<Kernel> productKernels();
std::vector<Kernel> attentionKernels();
std::vector<Kernel> pairingKernels();
std::vector<Kernel> resamplingKernels();
std::vector<Kernel> headKernels();

}  // namespace mpm::worlds
