// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/label_progress.h"

#include <algorithm>

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

}  // namespace mpm::vision
