// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/label_progress.h"

#include <algorithm>
#include <limits>

namespace mpm::vision {

std::vector<int> labelledPixels(const cv::Mat& labels, int classes) {
  std::vector<int> pixels;
  for (int label = 0; label < classes; ++label) pixels.push_back(cv::countNonZero(labels == label));
  return pixels;
}

LabelSummary summaryOf(const cv::Mat& image, const cv::Mat& labels, int classes) {
  const cv::Scalar mean = cv::mean(image);
  return {labelledPixels(labels, classes), (mean[0] + mean[1] + mean[2]) / 3, static_cast<double>(labels.total())};
}

LabelProgress progressOf(const std::vector<LabelSummary>& pictures, int classes) {
  LabelProgress progress{.pictures = static_cast<int>(pictures.size())};
  const auto [darkest, brightest] = std::ranges::minmax_element(pictures, {}, &LabelSummary::brightness);
  progress.night = !pictures.empty() && darkest->brightness <= 0.75 * brightest->brightness;
  for (int label = 0; label < classes; ++label) {
    const auto with = std::ranges::count_if(
        pictures, [&](const LabelSummary& one) { return one.pixels[static_cast<std::size_t>(label)] > 0; });
    if (with < LabelProgress::kPicturesPerClass) progress.rare.push_back(label);
  }
  return progress;
}

cv::Mat pictureFeature(const cv::Mat& tokens) {
  CV_Assert(tokens.rows > 0 && tokens.type() == CV_32F);
  cv::Mat unit = tokens.clone(), mean, deviation;
  for (int i = 0; i < unit.rows; ++i) cv::normalize(unit.row(i), unit.row(i));
  cv::reduce(unit, mean, 0, cv::REDUCE_AVG);
  cv::reduce(unit.mul(unit), deviation, 0, cv::REDUCE_AVG);
  cv::sqrt(cv::max(deviation - mean.mul(mean), 0), deviation);
  cv::hconcat(mean, deviation, mean);
  return mean;
}

std::vector<int> furthestFirst(const cv::Mat& candidates, const cv::Mat& labelled, int count) {
  constexpr double kEqual = 1e-6;
  std::vector<int> next;
  if (candidates.empty()) return next;
  std::vector<double> nearest(static_cast<std::size_t>(candidates.rows), std::numeric_limits<double>::infinity());
  const auto comesNear = [&](const cv::Mat& feature) {
    for (int i = 0; i < candidates.rows; ++i) {
      double& distance = nearest[static_cast<std::size_t>(i)];
      distance = std::min(distance, cv::norm(candidates.row(i), feature));
    }
  };
  for (int i = 0; i < labelled.rows; ++i) comesNear(labelled.row(i));
  if (labelled.empty() && count > 0) {
    cv::Mat mean;
    cv::reduce(candidates, mean, 0, cv::REDUCE_AVG);
    std::vector<double> off;
    for (int i = 0; i < candidates.rows; ++i) off.push_back(cv::norm(candidates.row(i), mean));
    next.push_back(static_cast<int>(std::ranges::min_element(off) - off.begin()));
    comesNear(candidates.row(next.back()));
  }
  while (static_cast<int>(next.size()) < count) {
    const auto furthest = std::ranges::max_element(nearest);
    if (!(*furthest > kEqual)) break;
    next.push_back(static_cast<int>(furthest - nearest.begin()));
    comesNear(candidates.row(next.back()));
  }
  return next;
}

}  // namespace mpm::vision
