// SPDX-License-Identifier: Apache-2.0
// A program that segments an image with OpenCV's DNN module. Three lines marked "added", two here and one in
// CMakeLists.txt, make it read converted files:
//   mpm convert MODEL.onnx -o FAST.onnx --output logits
//   opencv_program FAST.onnx IMAGE LABELS.png
#include <iostream>
#include <mpm/mpm.hpp>  // added
#include <opencv2/dnn.hpp>
#include <opencv2/imgcodecs.hpp>

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: opencv_program FAST.onnx IMAGE LABELS.png\n";
    return 2;
  }
  mpm::registerLayers();  // added

  const cv::Size input(640, 448);  // of the model
  cv::dnn::Net net = cv::dnn::readNetFromONNX(argv[1]);
  net.setInput(cv::dnn::blobFromImage(cv::imread(argv[2]), 1 / 127.5, input, cv::Scalar::all(127.5), true));
  cv::Mat logits = net.forward("logits");  // {1, classes, height, width}

  const int classes = logits.size[1], height = logits.size[2], width = logits.size[3];
  cv::Mat labels(height, width, CV_8U, cv::Scalar(0)), best(height, width, CV_32F, logits.ptr<float>(0, 0));
  for (int c = 1; c < classes; ++c) {
    cv::Mat scores(height, width, CV_32F, logits.ptr<float>(0, c));
    labels.setTo(c, scores > best);
    best = cv::max(best, scores);
  }
  return cv::imwrite(argv[3], labels) ? 0 : 1;
}
