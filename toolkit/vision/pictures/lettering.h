// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <opencv2/core.hpp>
#include <string>

namespace mpm::vision {

/// Pictures with text are drawn this many times larger and reduced at the end: OpenCV's letters are ragged.
constexpr int kSupersampling = 2;

inline const cv::Scalar kInk(60, 50, 40);

/// A point of the supersampled picture, from pixels of the final one.
inline cv::Point at(double x, double y) {
  return {static_cast<int>(std::lround(x * kSupersampling)), static_cast<int>(std::lround(y * kSupersampling))};
}

/// Width of `text` in pixels of the final picture; letters are `height` pixels tall, without accents.
double textWidth(const std::string& text, double height);

/// Writes on the line y; `align`: which share of the text lies left of x.
void write(cv::Mat& picture, const std::string& text, double x, double y, double align = 0, double height = 11,
           const cv::Scalar& color = kInk);

/// The final picture.
cv::Mat reduced(const cv::Mat& picture);

}  // namespace mpm::vision
