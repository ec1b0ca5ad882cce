// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/dnn.hpp>
#include <string>
#include <vector>

namespace mpm::test {

/// Outputs of a net for one image {1, C, H, W}, in the order of `names`.
std::vector<std::vector<double>> runNet(cv::dnn::Net& net, const std::vector<double>& image,
                                        const std::vector<int>& shape, const std::vector<std::string>& names);

/// Largest difference, in units of the expected values' standard deviation (at least 1e-3).
double difference(const std::vector<double>& found, const std::vector<double>& expected);

}  // namespace mpm::test
