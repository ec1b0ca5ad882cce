// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace mpm::cli {

/// Numbers of pictures, such as the mIoU and the IoU of each class.
using Statistics = std::function<std::vector<double>(const std::vector<int>& pictures)>;

/// Each of the numbers in each of 1000 samples of `count` pictures, drawn with replacement: {numbers, 1000}. Which
/// pictures are drawn depends on `count` only, so the difference of two models on the same pictures is that of their
/// values one by one. Empty for fewer than 2 pictures.
std::vector<std::vector<double>> bootstrap(int count, const Statistics& statistics);

/// The quantiles 0.025 and 0.975 of the draws of one number, without NaN: a 95 % interval, if the pictures are
/// independent. NaN without draws.
std::pair<double, double> interval(std::vector<double> draws);

}  // namespace mpm::cli
