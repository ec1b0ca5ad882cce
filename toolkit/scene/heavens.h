// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "light.h"
#include "noise.h"
#include "view.h"

namespace mpm::scene {

/// The sky as the camera sees it: its colours, clouds that drift, stars, the sun and the moon.
class Heavens {
 public:
  Heavens(std::uint64_t seed, const View& view, cv::Size size);

  /// Paints the first `rows` rows of `picture` (CV_32FC3 RGB in the units of Light).
  void paint(const Light& light, const WeatherState& weather, double unix_time, int rows, cv::Mat& picture);

 private:
  void disc(cv::Mat& picture, int rows, Vec3 towards, float degrees, Vec3 colour, float illuminated, Vec3 to_sun) const;

  std::uint64_t seed_;
  View view_;
  cv::Size size_;
  NoiseField shapes_, wisps_;
  cv::Mat coarse_, half_, veil_;
};

}  // namespace mpm::scene
