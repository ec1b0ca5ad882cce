// SPDX-License-Identifier: Apache-2.0
// The kernels for a GPU, by the files of this folder, and arrays on the device.
#pragma once

#include <numeric>

#include "kernels/cuda/device_values.h"
#include "kernels/cuda/elementwise.h"
#include "trial.h"

namespace mpm::cuda::worlds {

using mpm::worlds::Kernel;
using mpm::worlds::Random;
using mpm::worlds::Reference;
using mpm::worlds::Trial;
using test::fetched;

/// The stream of all trials.
const Stream& stream();

inline std::size_t size(int count) { return static_cast<std::size_t>(count); }

/// Number types and precisions that the device multiplies in.
Number anyNumber(Random& random);
Precision anyPrecision(Random& random);

/// What is in an array of the device.
template <typename T>
std::vector<T> now(const Buffer<T>& buffer) {
  return fetched(stream(), buffer.data(), buffer.capacity());
}

/// Numbers on the device in one of the types, and what they are there.
struct Values {
  Number number;
  std::vector<float> rounded;
  Memory memory;

  Values(Number type, const std::vector<float>& exact);
  void* data() const { return memory.data(); }
  /// What a kernel made of them.
  std::vector<float> now() const;
};

/// |found - expected| <= tolerance * (1 + |expected|), and what the type rounds.
void nearRounded(Trial& trial, Number number, float found, double expected, double tolerance);

/// A packed batch: `rows` of each image, all `dim` wide.
struct Packed {
  std::vector<int> rows, offsets;
  int dim;
  Values values;
  Buffer<int> device_offsets;
  Ragged ragged;

  Packed(std::vector<int> row_counts, int columns, Number number, const std::vector<float>& all);
  /// Of an image of the given values.
  MatrixView<const float> image(const std::vector<float>& all, int b) const {
    return {all.data() + area(offsets[size(b)], dim), rows[size(b)], dim};
  }
  float* data() const { return static_cast<float*>(values.data()); }
};
/// From `least` to `most` rows in each of a few images.
std::vector<int> imageRows(Random& random, int least, int most);

std::vector<Kernel> attentionKernels();
std::vector<Kernel> elementwiseKernels();
std::vector<Kernel> headKernels();
std::vector<Kernel> mergingKernels();
std::vector<Kernel> tokenKernels();

}  // namespace mpm::cuda::worlds
