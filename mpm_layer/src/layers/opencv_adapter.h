// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core/version.hpp>
#include <opencv2/dnn.hpp>
#include <opencv2/dnn/layer.details.hpp>
#include <sstream>
#include <string>
#include <vector>

#if CV_VERSION_MAJOR >= 5
// cv::dnn::Layer of OpenCV 5 has members `inputs` and `outputs`, the names of our parameters.
#pragma GCC diagnostic ignored "-Wshadow"
#endif

/// All differences between OpenCV 4.6 and 5.0 that matter to layers.
namespace mpm::opencv {

/// True when the new engine of OpenCV 5 may run nodes. It knows a custom operator by its bare name and passes constants
/// as inputs.
inline constexpr bool kHasNewEngine = CV_VERSION_MAJOR >= 5;

/// A vector in 4.x, a class with explicit constructors in 5.0.
#if CV_VERSION_MAJOR >= 5
using MatShape = cv::MatShape;
#else
using MatShape = cv::dnn::MatShape;
#endif

/// The message of an error in one line. OpenCV writes comparisons on several lines.
inline std::string oneLine(const cv::Exception& error) {
  std::istringstream words(error.err);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

/// Throws what the layer says of the shapes that reach it from an input of this shape.
inline void inferShapes(const cv::dnn::Net& net, const std::vector<int>& input, int layer) {
  std::vector<MatShape> inputs, outputs;
#if CV_VERSION_MAJOR >= 5
  net.getLayerShapes(MatShape(input), CV_32F, layer, inputs, outputs);
#else
  net.getLayerShapes(input, layer, inputs, outputs);
#endif
}

inline MatShape makeShape(const std::vector<int>& sizes) { return MatShape(sizes); }

}  // namespace mpm::opencv
