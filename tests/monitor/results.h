// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "monitor/capture/inference.h"
#include "monitor/samples.h"

namespace mpm::monitor::test {

/// What a model of these classes says of a picture at this time: all of it is the first one.
inline InferenceResult resultOf(const std::vector<ClassInfo>& classes, const cv::Mat& image, UnixMs time,
                                Size2 grid = {}, const Reduction& reduction = kFullModel) {
  const auto model = std::make_shared<ModelInfo>();
  model->classes = static_cast<int>(classes.size());
  model->facts.classes = classes;
  model->grid = grid;
  model->reduction = reduction;
  InferenceResult result;
  result.frame.image = image;
  result.frame.time = time;
  result.frame.steady = time - kNoon;
  result.estimate.labels = cv::Mat::zeros(image.size(), CV_8U);
  result.model = model;
  result.model_path = "m.onnx";
  result.model_digest = "00000000000000a1";
  result.session = 1;
  return result;
}

}  // namespace mpm::monitor::test
