// SPDX-License-Identifier: Apache-2.0
#include "monitor/statistics/view_watch.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <opencv2/imgproc.hpp>

namespace mpm::monitor {
namespace {

constexpr std::int64_t kStepMs = 30'000;
constexpr UnixMs kLearnMs = kHourMs;
constexpr int kFirst = 10;           // pictures that begin a reference
constexpr int kMaxAveraged = 48;     // two days of one an hour
constexpr int kChecks = 5;           // in a row that must find the same
constexpr double kMoved = 0.01;      // of the width
constexpr double kUnit = 1. / 4096;  // of ViewReference::edges

}  // namespace

void ViewWatch::start(ViewReference reference) {
  if (!last_) reference_ = std::move(reference);
}

ViewChange ViewWatch::add(const cv::Mat& image, UnixMs time, bool every) {
  if (image.empty() || (!every && last_ && std::abs(time - *last_) < kStepMs)) return ViewChange::kNone;
  last_ = time;
  const cv::Size size = image.size();
  const cv::Mat edges = edgeDirections(image);
  if (reference_.size != size || reference_.edges.size() != edges.size()) reference_ = {.size = size};
  const ViewMotion guess = place();
  motion_.reset();
  if (reference_.pictures >= kFirst) {
    motion_ = motionOf(edges, guess);
    const double moved = kMoved * size.width;
    if (motion_ && distance(*motion_, reference_.motion, size) <= moved) in_a_row_ = 0;
    if (motion_ && distance(*motion_, reference_.motion, size) > moved) {
      in_a_row_ = distance(*motion_, moved_, size) <= moved ? in_a_row_ + 1 : 1;
      moved_ = *motion_;
      if (in_a_row_ == kChecks) {
        in_a_row_ = 0;
        learned_ = true;
        reference_.motion = moved_;
        if (isSmall(moved_, size)) return ViewChange::kSmall;
        reference_ = {.size = size};
        motion_.reset();
        return ViewChange::kLarge;
      }
    }
    if (in_a_row_ > 0 || (time >= reference_.learned && time - reference_.learned < kLearnMs)) return ViewChange::kNone;
  }
  learn(edges, time);
  return ViewChange::kNone;
}

std::optional<ViewMotion> ViewWatch::motionOf(const cv::Mat& edges, const ViewMotion& guess) const {
  cv::Mat before;
  reference_.edges.convertTo(before, CV_32F, kUnit);
  return estimateMotion(before, edges, guess, reference_.size);
}

ViewMotion ViewWatch::placeOf(const cv::Mat& image) const {
  if (reference_.pictures < kFirst || image.size() != reference_.size) return place();
  return motionOf(edgeDirections(image), place()).value_or(reference_.motion);
}

// Moved back by the motion that holds, not by that of this picture: small errors would add up over a year.
void ViewWatch::learn(const cv::Mat& edges, UnixMs time) {
  cv::Mat before = cv::Mat::zeros(edges.size(), CV_32FC2);
  if (reference_.pictures > 0) reference_.edges.convertTo(before, CV_32F, kUnit);
  cv::Mat home = before.clone();
  const ViewMotion here = scaled(reference_.motion, static_cast<double>(edges.cols) / reference_.size.width);
  cv::warpAffine(edges, home, matrixOf(here, edges.size()), edges.size(), cv::INTER_LINEAR | cv::WARP_INVERSE_MAP,
                 cv::BORDER_TRANSPARENT);
  reference_.pictures = std::min(reference_.pictures + 1, kMaxAveraged);
  const double share = 1. / reference_.pictures;
  cv::addWeighted(before, 1 - share, home, share, 0, home);
  reference_.edges.release();  // a reader may share it
  home.convertTo(reference_.edges, CV_16S, 1 / kUnit);
  reference_.learned = time;
  learned_ = true;
}

std::optional<ViewReference> ViewWatch::takeLearned() {
  if (!std::exchange(learned_, false)) return std::nullopt;
  return reference_;
}

}  // namespace mpm::monitor
