// SPDX-License-Identifier: Apache-2.0
#include "vision/pictures/pictures.h"

#include "mpm/error.hpp"
#include "vision/draws.h"

namespace mpm::vision {

void NightOptions::validate() const {
  if (!(gain > 0 && gain <= 1)) throw Error("night: gain must be in (0, 1], the share of the light that is left");
  if (!(electrons >= 1 && electrons <= 1e7)) throw Error("night: electrons must be in 1..10000000");
  if (!(thermal >= 0 && thermal <= 1)) throw Error("night: thermal must be in 0..1, the noise in units of full white");
}

cv::Mat simulateNight(const cv::Mat& image, const NightOptions& options, std::uint64_t seed) {
  options.validate();
  if (image.depth() != CV_8U) throw Error("night: the image must have 8 bits per channel");
  const auto& quantiles = normalQuantiles();
  const auto scale = static_cast<float>(255 / options.electrons);
  const auto thermal = static_cast<float>(255 * options.thermal);
  std::array<float, 256> mean_electrons;
  for (int v = 0; v < 256; ++v) mean_electrons[v] = static_cast<float>(options.electrons * options.gain * v / 255);
  cv::Mat night(image.size(), image.type());
  const int count = image.cols * image.channels();
  for (int row = 0; row < image.rows; ++row) {
    const std::uint64_t key = hash(seed, row);
    const std::uint8_t* from = image.ptr(row);
    std::uint8_t* to = night.ptr(row);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t bits = mix(key + static_cast<std::uint64_t>(i));
      const float shot = poisson(mean_electrons[from[i]], static_cast<std::uint32_t>(bits >> 32), quantiles);
      to[i] = cv::saturate_cast<std::uint8_t>(shot * scale + thermal * quantiles[bits & 4095]);
    }
  }
  return night;
}

}  // namespace mpm::vision
