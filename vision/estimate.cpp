// SPDX-License-Identifier: Apache-2.0
#include "vision/estimate.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace mpm::vision {
namespace {

Estimate run(Segmenter& segmenter, const cv::Mat& image) {
  Estimate estimate;
  static_cast<Segmentation&>(estimate) = segmenter.segment(image);
  if (segmenter.model().givesLabels()) estimate.task = Task::kSemantic;
  return estimate;
}

Estimate run(PanopticSegmenter& segmenter, const cv::Mat& image) {
  PanopticMap map = segmenter.segment(image);
  Estimate estimate;
  static_cast<RunReport&>(estimate) = std::move(static_cast<RunReport&>(map));
  estimate.labels = map.labels;
  estimate.task = segmenter.task();
  estimate.ids = map.ids;
  estimate.segments = std::move(map.segments);
  return estimate;
}

Estimate run(DepthEstimator& estimator, const cv::Mat& image) {
  DepthMap map = estimator.estimate(image);
  Estimate estimate;
  static_cast<RunReport&>(estimate) = std::move(static_cast<RunReport&>(map));
  estimate.task = Task::kDepth;
  estimate.depth = map.depth;
  estimate.depth_range = depthRange(map.depth);
  return estimate;
}

}  // namespace

Estimate estimate(Estimator& estimator, const cv::Mat& image) {
  return std::visit([&](auto& one) { return run(one, image); }, estimator);
}

cv::Mat segmentClasses(const Estimate& estimate) {
  std::vector<std::uint8_t> classes(estimate.segments.size() + 1, 255);
  for (const Segment& one : estimate.segments) classes[one.id] = static_cast<std::uint8_t>(one.label);
  cv::Mat map(estimate.ids.size(), CV_8U);
  std::transform(estimate.ids.begin<std::uint16_t>(), estimate.ids.end<std::uint16_t>(), map.begin<std::uint8_t>(),
                 [&](std::uint16_t id) { return classes[id]; });
  return map;
}

const ModelInfo& modelOf(const Estimator& estimator) {
  return std::visit([](const auto& one) -> const ModelInfo& { return one.model(); }, estimator);
}

}  // namespace mpm::vision
