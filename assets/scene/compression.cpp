// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "sensor.h"

namespace mpm::scene {
namespace {

using Block = std::array<float, 64>;

// The example tables of ITU-T T.81, annex K, which every encoder scales by its quality.
constexpr std::array<int, 64> kLuma = {16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
                                       14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
                                       18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
                                       49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};
constexpr std::array<int, 64> kChroma = {17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99,
                                         24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99,
                                         99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
                                         99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99};

const Block& cosines() {  // {frequency, sample}
  static const Block table = [] {
    Block result{};
    for (int k = 0; k < 8; ++k)
      for (int i = 0; i < 8; ++i)
        result[8 * k + i] =
            static_cast<float>((k == 0 ? std::sqrt(0.125) : 0.5) * std::cos((2 * i + 1) * k * 3.14159265358979 / 16));
    return result;
  }();
  return table;
}

void multiply(const Block& a, const Block& b, Block& result) {
  result.fill(0);
  for (int i = 0; i < 8; ++i)
    for (int k = 0; k < 8; ++k) {
      const float factor = a[8 * i + k];
      for (int j = 0; j < 8; ++j) result[8 * i + j] += factor * b[8 * k + j];
    }
}

void quantise(cv::Mat& plane, const std::array<int, 64>& table, int quality) {
  const int scale = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  Block step, transposed;
  for (int i = 0; i < 64; ++i) step[i] = static_cast<float>(std::clamp((table[i] * scale + 50) / 100, 1, 255));
  for (int i = 0; i < 64; ++i) transposed[i] = cosines()[i % 8 * 8 + i / 8];
  cv::Mat padded;
  cv::copyMakeBorder(plane, padded, 0, -plane.rows & 7, 0, -plane.cols & 7, cv::BORDER_REPLICATE);
  Block block, half;
  for (int y = 0; y < padded.rows; y += 8)
    for (int x = 0; x < padded.cols; x += 8) {
      for (int i = 0; i < 64; ++i) block[i] = static_cast<float>(padded.ptr(y + i / 8)[x + i % 8]) - 128;
      multiply(cosines(), block, half);
      multiply(half, transposed, block);
      for (int i = 0; i < 64; ++i) block[i] = std::nearbyint(block[i] / step[i]) * step[i];
      multiply(transposed, block, half);
      multiply(half, cosines(), block);
      for (int i = 0; i < 64; ++i) padded.ptr(y + i / 8)[x + i % 8] = cv::saturate_cast<std::uint8_t>(block[i] + 128);
    }
  padded(cv::Rect(0, 0, plane.cols, plane.rows)).copyTo(plane);
}

}  // namespace

cv::Mat compressed(const cv::Mat& image, int quality) {
  cv::Mat colours, result;
  cv::cvtColor(image, colours, cv::COLOR_BGR2YCrCb);
  std::array<cv::Mat, 3> planes;
  cv::split(colours, planes.data());
  quantise(planes[0], kLuma, quality);
  for (int c = 1; c < 3; ++c) {
    cv::Mat half;
    cv::resize(planes[c], half, {(image.cols + 1) / 2, (image.rows + 1) / 2}, 0, 0, cv::INTER_AREA);
    quantise(half, kChroma, quality);
    cv::resize(half, planes[c], image.size(), 0, 0, cv::INTER_LINEAR);
  }
  cv::merge(planes.data(), planes.size(), colours);
  cv::cvtColor(colours, result, cv::COLOR_YCrCb2BGR);
  return result;
}

}  // namespace mpm::scene
