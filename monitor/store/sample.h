// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vision/time.h"

namespace mpm::monitor {

/// What is kept of one frame.
struct Sample {
  std::int64_t id = 0;         ///< given by the store; grows with every sample, also when the clock goes back
  std::int64_t session = 0;    ///< given by the store: SessionRecord::id, whose model it is of
  UnixMs time = 0;             ///< of the frame
  std::vector<double> tokens;  ///< N, then N' after each insertion
  double inference_ms = 0;
  std::vector<std::pair<int, double>> areas;  ///< class, share of the pixels in 0..1; classes that occur, ascending
  std::optional<bool> night;
  double brightness = 0;     ///< mean of the grey image, 0..255
  std::int64_t dropped = 0;  ///< frames dropped since the sample before
  std::string picture{};     ///< name of an image file; empty: the frame is of a video or camera
  /// Share of the rows that were computed, 0..1; nullopt without the reuse of rows.
  std::optional<double> rows = {};
  /// Percent, the lowest of the key frames since the sample before that compared reuse with the full result.
  std::optional<double> agreement = {};
};

/// Mean of the grey image, 0..255, of a CV_8UC3 image.
double meanBrightness(const cv::Mat& image);

}  // namespace mpm::monitor
