// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device.h"
#include "kernels/cuda/merging.h"
#include "merge_case.h"

namespace mpm::cuda::worlds {

using mpm::worlds::RandomState;

/// What a state of the device is made of: one blob for each image.
inline void readStates(TokenState& state, const std::vector<RandomState>& images, int special,
                       const float* computed = nullptr) {
  std::vector<float> blobs;
  for (const RandomState& image : images) {
    const std::vector<float> blob = image.blob();
    blobs.insert(blobs.end(), blob.begin(), blob.end());
  }
  const int count = static_cast<int>(images.size());
  state.read(stream(), {blobs.data(), count, static_cast<int>(blobs.size()) / count}, special, computed);
}

/// Rows of a few images after a merge, and their state.
struct Tokens {
  int patches, special, dim;
  std::vector<RandomState> images;
  TokenState state;
  std::vector<int> rows;
  Packed x;

  Tokens(Trial& trial, int special_rows, int columns)
      : patches(trial.random.size(1, 80)),
        special(special_rows),
        dim(columns),
        images(randomImages(trial.random, patches)),
        rows(rowsOf(images, special)),
        x(rows, dim, Number::kFloat, trial.memory.normal(area(std::accumulate(rows.begin(), rows.end(), 0), dim))) {
    readStates(state, images, special);
  }

  int batch() const { return static_cast<int>(images.size()); }
  /// Of image b; row 0 is the first special one.
  MatrixView<const float> image(int b) const { return x.image(x.values.rounded, b); }

  static std::vector<RandomState> randomImages(Random& random, int patches) {
    std::vector<RandomState> images;
    for (int count = random.size(1, 3); count > 0; --count)
      images.emplace_back(random, patches, random.size(1, patches));
    return images;
  }
  static std::vector<int> rowsOf(const std::vector<RandomState>& images, int special) {
    std::vector<int> rows;
    for (const RandomState& image : images) rows.push_back(special + image.live);
    return rows;
  }
};

}  // namespace mpm::cuda::worlds
