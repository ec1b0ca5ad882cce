// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <string>

#include "mpm/options.hpp"

namespace mpm::test {

/// Share of pixels at which mpm::readNet of a model file, merging nothing, gives the `expected` labels {B, H, W} CV_8U
/// of `images` {B, H, W} CV_8UC3.
double agreement(const std::string& model, Size2 input, const cv::Mat& images, const cv::Mat& expected);

}  // namespace mpm::test
