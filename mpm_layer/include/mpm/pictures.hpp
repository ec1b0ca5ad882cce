// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "mpm/export.hpp"
#include "mpm/model_info.hpp"

namespace mpm {

/// Colour of each class, BGR: those of the facts, else a colour-blind-safe palette. `classes` colours at least.
MPM_API std::vector<cv::Vec3b> classColors(const ModelFacts& facts, int classes);

/// `labels` (CV_8U) painted over `image` (CV_8UC3, same size) with the given opacity in 0..1. Labels beyond `colors`
/// leave the image as it is.
MPM_API cv::Mat overlayPicture(const cv::Mat& image, const cv::Mat& labels, const std::vector<cv::Vec3b>& colors,
                               double opacity = 0.5);

/// Every cluster filled with its mean colour in `image`, a 1 px border between clusters: the picture that people who
/// work on token merging know. `cluster_of_token` has grid.height * grid.width ids, raster order.
MPM_API cv::Mat mergePicture(const cv::Mat& image, const std::vector<int>& cluster_of_token, Size2 grid);

}  // namespace mpm
