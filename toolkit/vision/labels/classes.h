// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpm/model_info.hpp"

namespace mpm::vision {

/// A different name for every class of a model: the model's own, or "class_3" where it has none. A name that occurs
/// twice gets the index of its class as well.
std::vector<std::string> classNames(const ModelInfo& model);

/// The name of a label, "class_3" if it has none in `names`.
std::string className(const std::vector<std::string>& names, int label);

/// The colour, BGR, that people expect of a class of this name, in English or French: "blue sky", "arbres"; nullopt:
/// they expect none.
std::optional<cv::Vec3b> usualColor(const std::string& name);

/// Share of the pixels, 0..1, of each class that occurs in a CV_8U label map, ascending by class. Empty for an empty
/// map. With a mask, CV_8UC1, of the pixels inside.
std::vector<std::pair<int, double>> classAreas(const cv::Mat& labels, const cv::Mat& mask = {});

}  // namespace mpm::vision
