// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "evaluation/scores.h"
#include "samples.h"

namespace mpm::train {

/// {B, H, W} CV_8UC3 BGR -> labels {B, H, W} CV_8U.
using Predict = std::function<cv::Mat(const cv::Mat&)>;

/// Every held-out sample of the source once, at `size`; by day and by night where the source knows which is which.
evaluation::Evaluation evaluate(const SampleSource& source, Size2 size, int batch, int ignore, const Predict& predict);

/// A row per class, columns all, day, night; mIoU last.
std::vector<std::string> table(const evaluation::Evaluation& evaluation, const std::vector<ClassInfo>& classes);

/// {"all": {"images", "miou", "pixel_accuracy", "iou": {name: value}}, "day", "night"}: shares, null for a class that
/// occurs nowhere.
Json toJson(const evaluation::Evaluation& evaluation, const std::vector<ClassInfo>& classes);

}  // namespace mpm::train
