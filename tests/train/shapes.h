// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "train/samples.h"

namespace mpm::test {

inline const std::vector<ClassInfo> kShapeClasses = {
    {"ground", {{90, 90, 90}}}, {"disc", {{200, 60, 40}}}, {"box", {{40, 80, 220}}}};

/// Leaves images as they are.
inline train::AugmentationOptions noAugmentation() { return {1, 1, 0, 0, 0, 0, 0, 0, 0}; }

/// A grey ground with discs and boxes whose colours vary about a colour of their class: a task that is learned in
/// seconds and not solved by guessing.
inline train::TrainingSample shapes(int number, Size2 size) {
  cv::RNG random(static_cast<std::uint64_t>(number) * 7919 + 1);
  train::TrainingSample sample{cv::Mat(size.height, size.width, CV_8UC3),
                               cv::Mat::zeros(size.height, size.width, CV_8U)};
  const double grey = random.uniform(60., 160.);
  sample.image = cv::Scalar(grey, grey, grey);
  for (int i = 0; i < 4; ++i) {
    const int kind = 1 + i % 2, x = random.uniform(0, size.width), y = random.uniform(0, size.height);
    const int side = random.uniform(size.height / 5, size.height / 3);
    const auto& rgb = kShapeClasses[static_cast<std::size_t>(kind)].rgb.value();
    const cv::Scalar color(rgb[2] + random.uniform(-30, 30), rgb[1] + random.uniform(-30, 30),
                           rgb[0] + random.uniform(-30, 30));
    for (auto& [mat, value] : {std::pair{sample.image, color}, std::pair{sample.labels, cv::Scalar(kind)}}) {
      if (kind == 1)
        cv::circle(mat, {x, y}, side / 2, value, cv::FILLED);
      else
        cv::rectangle(mat, cv::Rect(x - side / 2, y - side / 2, side, side), value, cv::FILLED);
    }
  }
  cv::Mat noise(sample.image.size(), CV_8UC3);
  random.fill(noise, cv::RNG::UNIFORM, 0, 20);
  sample.image += noise;
  return sample;
}

/// The first `count` of them as FOLDER/images/0007.png and FOLDER/labels/0007.png.
inline void writeShapes(const std::string& folder, int count, Size2 size) {
  for (const char* part : {"/images", "/labels"}) std::filesystem::create_directories(folder + part);
  for (int i = 0; i < count; ++i) {
    const train::TrainingSample sample = shapes(i, size);
    const std::string name = "/" + std::to_string(10000 + i).substr(1) + ".png";
    cv::imwrite(folder + "/images" + name, sample.image);
    cv::imwrite(folder + "/labels" + name, sample.labels);
  }
}

/// `count` shapes from number `first` as images {B, H, W} CV_8UC3 and labels {B, H, W} CV_8U.
inline std::pair<cv::Mat, cv::Mat> shapeBatch(int first, int count, Size2 size) {
  const int dims[] = {count, size.height, size.width};
  cv::Mat images(3, dims, CV_8UC3), labels(3, dims, CV_8U);
  for (int i = 0; i < count; ++i) {
    const train::TrainingSample sample = shapes(first + i, size);
    sample.image.copyTo(cv::Mat(size.height, size.width, CV_8UC3, images.ptr(i)));
    sample.labels.copyTo(cv::Mat(size.height, size.width, CV_8U, labels.ptr(i)));
  }
  return {images, labels};
}

}  // namespace mpm::test
