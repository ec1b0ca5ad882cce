// SPDX-License-Identifier: Apache-2.0
#include "train/agreement.h"

#include <opencv2/dnn.hpp>

#include "mpm/read_net.hpp"

namespace mpm::test {

double agreement(const std::string& model, Size2 input, const cv::Mat& images, const cv::Mat& expected) {
  cv::dnn::Net net = readNet(model, {.convert = {.reduce = kFullModel}}).net;  // LibTorch merges nothing
  int equal = 0;
  for (int i = 0; i < images.size[0]; ++i) {
    const cv::Mat image(input.height, input.width, CV_8UC3, const_cast<uchar*>(images.ptr(i)));
    net.setInput(cv::dnn::blobFromImage(image, 1 / 127.5, {}, cv::Scalar::all(127.5), true));
    const cv::Mat labels = net.forward("labels");
    cv::Mat bytes, truth(input.height, input.width, CV_8U, const_cast<uchar*>(expected.ptr(i)));
    cv::Mat(input.height, input.width, CV_32F, labels.data).convertTo(bytes, CV_8U);
    equal += cv::countNonZero(bytes == truth);
  }
  return static_cast<double>(equal) / (images.size[0] * input.height * input.width);
}

}  // namespace mpm::test
