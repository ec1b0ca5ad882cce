// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <opencv2/core.hpp>

namespace mpm::scene {

struct SensorOptions {
  double noise = 1;       ///< StreetOptions::noise
  int jpeg = 0;           ///< StreetOptions::jpeg
  cv::Rect2f window;      ///< what of the picture is seen; a fraction of a pixel is interpolated
  std::uint64_t key = 0;  ///< of the noise
};

/// What a small camera makes of light (CV_32FC3 RGB, any scale that is linear): glare of its lens, automatic exposure
/// and white balance, photons (Poisson) and read-out (Gaussian), a film-like curve, 8 bits, JPEG. CV_8UC3 BGR.
cv::Mat expose(const cv::Mat& light, const SensorOptions& options);

}  // namespace mpm::scene
