// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <opencv2/core.hpp>
#include <vector>

namespace mpm::train {

// OpenCV 4 and 5 have different names for the type of a half; both convert matrices of them.

/// The bits of each value, rounded to the nearest half.
inline std::vector<std::uint16_t> toHalf(const std::vector<float>& values) {
  std::vector<std::uint16_t> bits(values.size());
  if (values.empty()) return bits;
  const cv::Mat from(1, static_cast<int>(values.size()), CV_32F, const_cast<float*>(values.data()));
  cv::Mat to(from.size(), CV_16F, bits.data());
  from.convertTo(to, CV_16F);
  return bits;
}

inline std::vector<float> fromHalf(const std::vector<std::uint16_t>& bits) {
  std::vector<float> values(bits.size());
  if (values.empty()) return values;
  const cv::Mat from(1, static_cast<int>(bits.size()), CV_16F, const_cast<std::uint16_t*>(bits.data()));
  cv::Mat to(from.size(), CV_32F, values.data());
  from.convertTo(to, CV_32F);
  return values;
}

}  // namespace mpm::train
