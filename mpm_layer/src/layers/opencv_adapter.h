// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core/version.hpp>
#include <opencv2/dnn.hpp>
#include <opencv2/dnn/layer.details.hpp>
#include <sstream>
#include <string>
#include <vector>

#if CV_VERSION_MAJOR >= 5
// Its cv::dnn::Layer has members `inputs` and `outputs`, which is what the parameters of every layer are called.
#pragma GCC diagnostic ignored "-Wshadow"
#endif

/// The differences between OpenCV 4.6 and 5.0 that a layer meets, in one place.
namespace mpm::opencv {

/// True when nodes may be run by the engine of OpenCV 5, which knows a custom op by its bare name and hands constants
/// over as inputs.
inline constexpr bool kHasNewEngine = CV_VERSION_MAJOR >= 5;

/// A vector in 4.x, a class with explicit constructors in 5.0.
#if CV_VERSION_MAJOR >= 5
using MatShape = cv::MatShape;
#else
using MatShape = cv::dnn::MatShape;
#endif

/// The classic engine also in 5.0: the new one gives either all outputs of a net or one, and labels without scores are
/// what callers ask for.
inline cv::dnn::Net readOnnx(const std::string& bytes) {
#if CV_VERSION_MAJOR >= 5
  return cv::dnn::readNetFromONNX(bytes.data(), bytes.size(), cv::dnn::ENGINE_CLASSIC);
#else
  return cv::dnn::readNetFromONNX(bytes.data(), bytes.size());
#endif
}

/// What an error says, in one line: OpenCV writes its comparisons on several.
inline std::string oneLine(const cv::Exception& error) {
  std::istringstream words(error.err);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

inline MatShape makeShape(const std::vector<int>& sizes) { return MatShape(sizes); }

}  // namespace mpm::opencv
