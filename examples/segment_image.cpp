// SPDX-License-Identifier: Apache-2.0
// Segments an image and writes it with the colours of its classes painted over.
//   segment_image MODEL.onnx IMAGE OVERLAY.png
// MODEL.onnx is a plain ViT. MODEL.json beside it names the classes and their colours.
#include <exception>
#include <iostream>
#include <mpm/mpm.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::cerr << "usage: segment_image MODEL.onnx IMAGE OVERLAY.png\n";
    return 2;
  }
  const cv::Mat image = cv::imread(argv[2]);
  if (image.empty()) throw mpm::Error(std::string("cannot read the image ") + argv[2]);

  mpm::Estimator estimator(argv[1]);  // merges tokens before blocks 2 and 5, the default
  const mpm::Estimate result = estimator.estimate(image);

  cv::Mat color_of_class = cv::Mat::zeros(1, 256, CV_8UC3);
  int index = 0;
  for (const mpm::ClassInfo& one : estimator.model().facts.classes) {
    const auto rgb = one.rgb.value_or(std::array<std::uint8_t, 3>{});  // black: the model's JSON has no colour
    color_of_class.at<cv::Vec3b>(index++) = {rgb[2], rgb[1], rgb[0]};
  }
  cv::Mat overlay;
  cv::cvtColor(result.labels, overlay, cv::COLOR_GRAY2BGR);
  cv::LUT(overlay, color_of_class, overlay);
  cv::addWeighted(image, 0.5, overlay, 0.5, 0, overlay);
  if (!cv::imwrite(argv[3], overlay)) throw mpm::Error(std::string("cannot write ") + argv[3]);

  std::cout << "tokens before merging and after each step:";
  for (const double tokens : result.tokens) std::cout << ' ' << tokens;
  std::cout << "\ntime: " << result.ms.total << " ms\n";
  return 0;
} catch (const std::exception& error) {
  std::cerr << "segment_image: " << error.what() << '\n';
  return 1;
}
