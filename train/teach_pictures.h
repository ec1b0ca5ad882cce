// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "frozen_encoder.h"
#include "head_learner.h"
#include "vision/labels/class_list.h"
#include "vision/labels/labelled_picture.h"

namespace mpm::train {

/// The model whose encoder is used: `model`, or the default model where that is empty. Throws mpm::Error when
/// onnx_graph::withTokenHead() would refuse it.
std::string teachableModel(const std::string& model);

/// The classes in the file `path`; of the model where that is empty. Throws mpm::Error, cli::UsageError where neither
/// names classes.
vision::ClassList taughtClasses(const std::string& path, const ModelInfo& model);

/// Pixels of each class.
std::vector<double> pixelsOfClasses(const cv::Mat& labels, const vision::ClassList& classes);

/// The class with most labelled pixels in each cell of LabelledTokens::cells, so that a stroke thinner than a cell
/// counts.
cv::Mat cellsOf(const cv::Mat& labels, Size2 grid, const vision::ClassList& classes);

/// A labelled picture as training needs it.
struct TaughtPicture {
  LabelledTokens tokens;
  std::vector<double> pixels;  ///< of each class, in the label map
};

/// Trains a head on these pictures with class-balanced loss. `recipe`: steps, seed, threads and the like; the rest is
/// filled in.
TokenHead trainOn(const std::vector<const TaughtPicture*>& pictures, const vision::ClassList& classes, Size2 grid,
                  HeadRecipe recipe, const std::function<bool()>& step);

}  // namespace mpm::train
