// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/json_file.h"
#include "mpm/estimator.hpp"

namespace mpm::vision {

/// "id", "class", "score", "area" (px) and "thing" of each segment, and the "box" of those that have one: left, top,
/// right and bottom.
Json segmentsJson(const Estimate& estimate, const ModelInfo& model);

/// "unit", "min", "median", "max", and the "offset" and "step" of depthImage().
Json depthJson(const Estimate& estimate, const ModelInfo& model);

/// The files that programs write of an estimate, by the endings of their names.
struct EstimateFiles {
  static constexpr const char *kOverlay = "_overlay.png", *kIds = "_segments.png", *kSegments = "_segments.json",
                              *kDepth = "_depth.png", *kDepthColors = "_depth_colors.png", *kMerge = "_merge.png";

  std::vector<std::pair<std::string, cv::Mat>> pictures{};
  std::vector<std::pair<std::string, std::string>> texts{};
};

/// `image` with its segments painted over it: in the task kBoxes outlines with names and scores, else pixels, and both
/// for segments that have boxes.
cv::Mat segmentsOverlay(const Estimate& estimate, const cv::Mat& image, const ModelInfo& model,
                        const std::vector<cv::Vec3b>& class_colors, double opacity);

/// `class_colors` (BGR) and `opacity` (0..1) are those of the overlay.
EstimateFiles estimateFiles(const Estimate& estimate, const cv::Mat& image, const ModelInfo& model,
                            const std::vector<cv::Vec3b>& class_colors, double opacity = 0.5);

}  // namespace mpm::vision
