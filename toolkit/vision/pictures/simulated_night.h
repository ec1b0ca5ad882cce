// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <opencv2/core.hpp>

namespace mpm::vision {

/// The night of the MPM paper's day/night figure: less light, then thermal and shot noise. The paper gives no numbers;
/// these are ours. Of a channel with value v (0..255) it makes
///   255 * (Poisson(electrons * gain * v / 255) / electrons + Normal(0, thermal)),  rounded and clipped to 0..255,
/// so the mean is gain * v and the variance 255^2 * (gain * v / 255 / electrons + thermal^2), clipping apart.
struct NightOptions {
  double gain = 0.25;       ///< share of the light that is left, in (0, 1]
  double electrons = 1500;  ///< that a pixel collects for value 255; fewer electrons mean more shot noise
  double thermal = 0.008;   ///< standard deviation of the Gaussian noise, in units of value 255

  /// Throws mpm::Error naming the option and what is allowed.
  void validate() const;
};

/// `image` (CV_8U, any channels) at night. The same seed gives the same noise. Thread-safe.
cv::Mat simulateNight(const cv::Mat& image, const NightOptions& options = {}, std::uint64_t seed = 0);

}  // namespace mpm::vision
