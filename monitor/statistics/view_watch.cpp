// SPDX-License-Identifier: Apache-2.0
#include "monitor/statistics/view_watch.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <vector>

namespace mpm::monitor {
namespace {

constexpr int kWidth = 320;  // px of the pictures that are compared
constexpr std::int64_t kStepMs = 30'000, kPatienceMs = 300'000;
constexpr int kChecks = 5;           // in a row that must find the same
constexpr int kFirst = 20;           // pictures before the first check
constexpr int kMaxAveraged = 2880;   // a day of pictures
constexpr double kRecent = 0.25;     // share of the newest picture in the recent average
constexpr int kRows = 3, kCols = 4;  // blocks
constexpr double kMatch = 0.3;       // correlation of a block that is found again
constexpr double kSame = 0.7;        // of one that is where it was: never by chance
constexpr double kGain = 0.1;        // at the new place over the old one
constexpr int kMoved = 3;            // px, of the small picture

// Directions of edges with twice their angle, so that a dark edge on light and a light one on dark are the same.
// Divided by the mean strength around, so that shade and night count as much as light.
cv::Mat edges(const cv::Mat& image) {
  cv::Mat grey, small, dx, dy;
  cv::cvtColor(image, grey, cv::COLOR_BGR2GRAY);
  const int height =
      std::max(kRows * 8, static_cast<int>(std::lround(static_cast<double>(kWidth) * image.rows / image.cols)));
  cv::resize(grey, small, {kWidth, height}, 0, 0, cv::INTER_AREA);
  small.convertTo(small, CV_32F);
  cv::GaussianBlur(small, small, {}, 1);
  cv::Sobel(small, dx, CV_32F, 1, 0);
  cv::Sobel(small, dy, CV_32F, 0, 1);
  cv::Mat strength, around;
  cv::magnitude(dx, dy, strength);
  cv::boxFilter(strength.mul(strength), around, CV_32F, {31, 31});
  cv::sqrt(around, around);
  constexpr float kNoise = 8;  // of Sobel's sums of 8-bit values
  cv::Mat result(small.size(), CV_32FC2);
  for (int y = 0; y < result.rows; ++y)
    for (int x = 0; x < result.cols; ++x) {
      const float gx = dx.at<float>(y, x), gy = dy.at<float>(y, x);
      const float scale = 1 / ((strength.at<float>(y, x) + 1e-3f) * (around.at<float>(y, x) + kNoise));
      result.at<cv::Vec2f>(y, x) = {(gx * gx - gy * gy) * scale, 2 * gx * gy * scale};
    }
  return result;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void ViewWatch::restart() {
  reference_.release();
  recent_.release();
  seen_ = 0;
  moved_since_.reset();
  moved_checks_ = 0;
}

std::optional<ViewShift> ViewWatch::add(const cv::Mat& image, std::int64_t steady) {
  if (image.empty() || (last_ && steady - *last_ < kStepMs)) return std::nullopt;
  last_ = steady;
  if (image.size() != size_) restart();
  size_ = image.size();
  const cv::Mat now = edges(image);
  if (recent_.empty())
    recent_ = now.clone();
  else
    cv::addWeighted(recent_, 1 - kRecent, now, kRecent, 0, recent_);

  if (seen_ >= kFirst) {
    if (const auto shift = shiftOf(recent_)) {
      if (!moved_since_) moved_since_ = steady;
      if (++moved_checks_ < kChecks || steady - *moved_since_ < kPatienceMs) return std::nullopt;
      restart();
      return shift;
    }
    moved_since_.reset();
    moved_checks_ = 0;
  }
  ++seen_;
  const double share = std::max(1. / static_cast<double>(seen_), 1. / kMaxAveraged);
  if (reference_.empty())
    reference_ = now.clone();
  else
    cv::addWeighted(reference_, 1 - share, now, share, 0, reference_);
  return std::nullopt;
}

std::optional<ViewShift> ViewWatch::shiftOf(const cv::Mat& recent) const {
  const cv::Size block(recent.cols / kCols, recent.rows / kRows);
  std::vector<double> right, down;
  int unmoved = 0;
  for (int row = 0; row < kRows; ++row)
    for (int col = 0; col < kCols; ++col) {
      const cv::Rect place(cv::Point(col * block.width, row * block.height), block);
      const cv::Rect around =
          cv::Rect(place.tl() - cv::Point(block), place.br() + cv::Point(block)) & cv::Rect(cv::Point(), recent.size());
      cv::Mat match;
      cv::matchTemplate(recent(around), reference_(place), match, cv::TM_CCORR_NORMED);
      double best = 0;
      cv::Point at;
      cv::minMaxLoc(match, nullptr, &best, nullptr, &at);
      const cv::Point home = place.tl() - around.tl(), shift = at - home;
      if (best < kMatch) continue;
      if (std::max(std::abs(shift.x), std::abs(shift.y)) < kMoved)
        unmoved += best >= kSame;
      else if (best - static_cast<double>(match.at<float>(home)) >= kGain) {
        right.push_back(shift.x);
        down.push_back(shift.y);
      }
    }
  if (right.size() < 3) return std::nullopt;
  // A turn or a zoom moves blocks differently, a passing bus at random.
  const ViewShift middle{median(right), median(down)};
  const double tolerance = 4 + 0.3 * std::hypot(middle.right, middle.down);
  int agree = 0;
  for (std::size_t i = 0; i < right.size(); ++i)
    agree += std::hypot(right[i] - middle.right, down[i] - middle.down) <= tolerance;
  if (agree < 3 || agree < 2 * unmoved || std::max(std::abs(middle.right), std::abs(middle.down)) < kMoved)
    return std::nullopt;
  const double scale = static_cast<double>(size_.width) / recent.cols;
  return ViewShift{middle.right * scale, middle.down * scale};
}

}  // namespace mpm::monitor
