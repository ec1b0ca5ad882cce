// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <opencv2/dnn.hpp>
#include <string>
#include <vector>

#include "mpm/mpm.hpp"
#include "support/reading.h"

namespace mpm::test {

/// Outputs of a net for images of this shape, in the order of `names`.
inline std::vector<std::vector<double>> runNet(cv::dnn::Net& net, const std::vector<double>& image,
                                               const std::vector<int>& shape, const std::vector<std::string>& names) {
  cv::Mat input(shape, CV_32F);
  std::copy(image.begin(), image.end(), input.ptr<float>());
  net.setInput(input);
  std::vector<std::vector<double>> results;
  for (const std::string& name : names) {  // OpenCV 5 gives one output or all of them
    const cv::Mat blob = net.forward(name);
    results.emplace_back(blob.ptr<float>(), blob.ptr<float>() + blob.total());
  }
  return results;
}

/// The same of the model at `path`, for images of the size of its input. Without `names`: its own outputs.
inline std::vector<std::vector<double>> runModel(const std::string& path, const ConvertOptions& options,
                                                 const std::vector<double>& images,
                                                 const std::vector<std::string>& names = {}) {
  auto [net, info] = readNet(path, reading(options));
  const int pixels = 3 * info.input.height * info.input.width, count = static_cast<int>(images.size()) / pixels;
  return runNet(net, images, {count, 3, info.input.height, info.input.width}, names.empty() ? info.outputs : names);
}

/// Largest difference, in units of the expected values' standard deviation (at least 1e-3).
inline double difference(const std::vector<double>& found, const std::vector<double>& expected) {
  if (found.size() != expected.size() || expected.empty()) return std::numeric_limits<double>::infinity();
  double mean = 0, square = 0, worst = 0;
  for (const double value : expected) mean += value / static_cast<double>(expected.size());
  for (const double value : expected) square += (value - mean) * (value - mean) / static_cast<double>(expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!std::isfinite(found[i])) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, std::abs(found[i] - expected[i]));
  }
  return worst / std::max(std::sqrt(square), 1e-3);
}

}  // namespace mpm::test
