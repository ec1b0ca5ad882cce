// SPDX-License-Identifier: Apache-2.0
#include "gui/models/moved_labels.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>

#include "monitor/statistics/view_motion.h"

namespace mpm::gui {
namespace {

constexpr int kLeastSide = 32;    // px, that edgeDirections() needs
constexpr double kStill = 0.004;  // of the width: what a motion that is sure may be wrong by

}  // namespace

cv::Mat movedLabels(const cv::Mat& labels, const cv::Mat& from, const cv::Mat& to, int ignore) {
  const cv::Size size = labels.size();
  if (from.size() != size || to.size() != size || std::min(size.width, size.height) < kLeastSide) return {};
  const auto motion = monitor::estimateMotion(monitor::edgeDirections(from), monitor::edgeDirections(to), {}, size);
  if (!motion || !monitor::isSmall(*motion, size) || monitor::distance(*motion, {}, size) <= kStill * size.width)
    return {};
  cv::Mat moved;
  cv::warpAffine(labels, moved, monitor::matrixOf(*motion, size), size, cv::INTER_NEAREST, cv::BORDER_CONSTANT,
                 cv::Scalar(ignore));
  return moved;
}

}  // namespace mpm::gui
