// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <opencv2/core.hpp>

#include "vec3.h"

namespace mpm::scene {

/// How a camera turns light into a picture. The defaults are those of the street's camera.
struct Development {
  float gain = 1;            ///< times the automatic exposure
  Vec3 balance = {1, 1, 1};  ///< times the automatic white balance
  float gamma = 1;           ///< of the picture, after its curve
  float veil = 0;            ///< grey level of black, of 1; negative: shadows are cut off
  float saturation = 1.15f;
  float vignette = 0.22f;  ///< share of light that corners lose
  float glare = 1;         ///< times the glare of the lens
  float blur = 0;          ///< standard deviation, px of a picture 640 px wide
};

struct SensorOptions {
  double noise = 1;       ///< StreetOptions::noise
  int jpeg = 0;           ///< StreetOptions::jpeg
  cv::Rect2f window;      ///< what of the picture is seen; a fraction of a pixel is interpolated
  std::uint64_t key = 0;  ///< of the noise
  Development development{};
};

/// The picture that a small camera takes of light (CV_32FC3 RGB, any scale that is linear): glare of its lens,
/// automatic exposure and white balance, photons (Poisson) and read-out (Gaussian), a film-like curve, 8 bits, JPEG.
/// CV_8UC3 BGR.
cv::Mat expose(const cv::Mat& light, const SensorOptions& options);

}  // namespace mpm::scene
