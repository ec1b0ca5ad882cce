// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kernels/precision.h"
#include "kernels/reference.h"
#include "kernels/threads.h"
#include "memory.h"
#include "mpm/error.hpp"

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
  /// `work` throws an mpm::Error that says this.
  template <class Work>
  void refuses(Work work, const std::string& part) {
    try {
      work();
    } catch (const Error& error) {
      return require(std::string(error.what()).find(part) != std::string::npos, std::string("says: ") + error.what());
    }
    require(false, "takes what it must refuse: " + part);
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
    for (int i = 0; i < found.rows; ++i) {
      for (int j = 0; j < found.cols; ++j) {
        error += std::pow(static_cast<double>(found.row(i)[j]) - expected.at(i, j), 2);
        change += std::pow(expected.at(i, j) - from.at(i, j), 2);
      }
    }
    require(error <= part * part * change, "is off by " + std::to_string(std::sqrt(error / change)) + " of its size");
    require(error >= 1e-10 * change, "computes in fp32");
  }
  template <typename T>
  void same(MatrixView<const T> found, MatrixView<const T> expected, const std::string& problem) {
    for (int i = 0; i < found.rows; ++i) {
      require(std::memcmp(found.row(i), expected.row(i), sizeof(T) * static_cast<std::size_t>(found.cols)) == 0,
              problem);
    }
  }

  /// The first thing that is wrong; empty: nothing.
  std::string problem() const { return problem_.empty() ? memory.damage() : problem_; }

 private:
  std::string problem_;
};

struct Kernel {
  /// Of the function or class in mpm_layer/src, or of several behind commas, and after a space what is special here.
  const char* name;
  void (*trial)(Trial&);
};

/// What a program of this folder tries, and on what: each instruction set of the CPU, or a GPU.
std::vector<Kernel> everyKernel();
std::vector<std::string> everyMachine();
void prepare(const std::string& machine, unsigned seed);

}  // namespace mpm::worlds
