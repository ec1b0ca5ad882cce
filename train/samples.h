// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "augmentation.h"
#include "mpm/model_info.hpp"
#include "mpm/options.hpp"

namespace mpm::train {

/// An image and the truth about its pixels.
struct TrainingSample {
  cv::Mat image;   ///< CV_8UC3 BGR
  cv::Mat labels;  ///< CV_8U, same size
  bool night = false;
};

/// Where samples come from. Every sample is a pure function of the source's options and a number. Thread-safe.
class SampleSource {
 public:
  virtual ~SampleSource() = default;

  virtual const std::vector<ClassInfo>& classes() const = 0;
  /// Training samples come in chunks, because what a chunk shares (a street) costs time to build.
  virtual int chunkSize() const = 0;
  /// chunkSize() augmented samples of `size`. Throws mpm::Error naming what cannot be read.
  virtual std::vector<TrainingSample> trainingChunk(std::uint64_t chunk, Size2 size) const = 0;
  /// Samples that training never sees, not augmented, resized to `size`.
  virtual int heldOutCount() const = 0;
  virtual TrainingSample heldOut(int index, Size2 size) const = 0;
  /// True when TrainingSample::night says something.
  virtual bool knowsNight() const = 0;
};

struct SceneOptions {
  int samples_per_street = 16;
  int windows_per_view = 1;  ///< samples cut out of one rendering; more save time where a window is a small part of it
  double varied = 0;         ///< share of training streets with the widest StreetOptions::variety
  int held_out_streets = 8;
  int held_out_per_street = 8;
};

/// Streets of the built-in scene, seeds, hours, seasons, latitudes and weather mixed. Streets with seeds below a
/// million are never trained on.
std::unique_ptr<SampleSource> openScenes(const SceneOptions& scene, const AugmentationOptions& augmentation,
                                         std::uint64_t seed, int ignore);

struct FolderOptions {
  std::string training;    ///< holds images/ and labels/, files paired by stem; labels are 8-bit class indices
  std::string validation;  ///< the same; empty: every tenth pair of `training` is held out
  std::vector<ClassInfo> classes;
};

/// Throws mpm::Error when a folder holds no pairs.
std::unique_ptr<SampleSource> openFolder(const FolderOptions& folder, const AugmentationOptions& augmentation,
                                         std::uint64_t seed, int ignore);

}  // namespace mpm::train
