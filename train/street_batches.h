// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <future>
#include <opencv2/core.hpp>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "mpm/options.hpp"
#include "scene/street.h"

namespace mpm::train {

/// Images and labels of one step: {B, H, W}, CV_8UC3 BGR and CV_8U.
struct Batch {
  cv::Mat images, labels;
};

struct StreetOptions {
  Size2 size;                                ///< px, of an image
  int batch = 16;                            ///< images of a step, each of another street
  int per_street = 16;                       ///< images of a street before another one is built
  int per_view = 1;                          ///< windows cut out of one rendering
  double scale_min = 0.75, scale_max = 1.5;  ///< of a rendering against the window cut out of it; below 1 counts as 1
  double varied = 0;                         ///< share of streets with scene::StreetOptions::variety 1
  std::uint64_t seed = 1;
  int workers = 1;  ///< threads that render
};

/// Endless training images of the built-in scene: seeds of streets, hours, seasons, latitudes and weather mixed. Image
/// and labels depend on the options and their number only. Streets with seeds below a million are for evaluation.
class StreetBatches {
 public:
  explicit StreetBatches(const StreetOptions& options);

  /// Waits for the next batch, and begins the one after it. Rethrows the error of a worker.
  Batch next();

 private:
  struct OpenStreet {
    Random random{0, 0};
    std::optional<scene::Street> street;
    bool varied = false;
    scene::Rendering view;
  };
  Batch make();
  void draw(int slot, Batch& batch);

  StreetOptions options_;
  std::uint64_t step_ = 0;
  std::vector<OpenStreet> streets_;  // one for each image of a batch
  std::future<Batch> ahead_;
};

/// Mirrors the image and its labels with probability 1/2, changes its colours and exposure, and adds noise.
void augment(cv::Mat& image, cv::Mat& labels, Random& random);

}  // namespace mpm::train
