// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/dnn.hpp>

namespace mpm::test {

/// A value of the net for an image of its input size, by OpenCV alone: RGB, 0..1, mean and std 0.5.
inline cv::Mat forwardPlain(cv::dnn::Net net, const cv::Mat& image, const std::string& name) {
  net.setInput(cv::dnn::blobFromImage(image, 1 / 127.5, {}, cv::Scalar::all(127.5), true));
  return net.forward(name).clone();
}

}  // namespace mpm::test
