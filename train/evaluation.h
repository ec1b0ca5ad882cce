// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "samples.h"

namespace mpm::train {

/// Scores over some images. Intersections over union are 0..1, NaN for a class that occurs nowhere.
struct Scores {
  int images = 0;
  std::vector<double> iou;
  double mean_iou = 0;
  double pixel_accuracy = 0;
};

struct Evaluation {
  Scores all;
  std::optional<Scores> day, night;  ///< where the source knows which is which
};

/// {B, H, W} CV_8UC3 BGR -> labels {B, H, W} CV_8U.
using Predict = std::function<cv::Mat(const cv::Mat&)>;

/// Every held-out sample of the source once, at `size`.
Evaluation evaluate(const SampleSource& source, Size2 size, int batch, int ignore, const Predict& predict);

/// A row per class, columns all, day, night; mIoU last.
std::string table(const Evaluation& evaluation, const std::vector<ClassInfo>& classes);
nlohmann::ordered_json toJson(const Evaluation& evaluation, const std::vector<ClassInfo>& classes);

}  // namespace mpm::train
