// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "mpm/segmenter.hpp"

namespace mpm::vision {

/// Colour of each class, BGR: those of the facts, else a palette whose colours stay apart to colour-blind eyes too.
/// `classes` colours at least.
std::vector<cv::Vec3b> classColors(const ModelFacts& facts, int classes);

/// `labels` (CV_8U) painted over `image` (CV_8UC3, same size) with the given opacity in 0..1. Labels beyond `colors`
/// leave the image as it is.
cv::Mat overlayPicture(const cv::Mat& image, const cv::Mat& labels, const std::vector<cv::Vec3b>& colors,
                       double opacity = 0.5);

/// Every cluster filled with its mean colour in `image`, a 1 px border between clusters: the picture that people who
/// work on token merging know. `cluster_of_token` has grid.height * grid.width ids, raster order.
cv::Mat mergePicture(const cv::Mat& image, const std::vector<int>& cluster_of_token, Size2 grid);
/// The same of a result: its clusters after the last insertion; without merging each token is one.
cv::Mat mergePicture(const cv::Mat& image, const Segmentation& result);

/// `picture` as a PNG, written under a temporary name and renamed: `path` is whole or as it was. Throws mpm::Error.
void writePicture(const std::string& path, const cv::Mat& picture);

}  // namespace mpm::vision
