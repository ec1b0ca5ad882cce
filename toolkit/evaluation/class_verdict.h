// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "evaluation/confusion_matrix.h"

namespace mpm::evaluation {

/// How well a class was recognised on pictures that the model was not trained on.
struct ClassVerdict {
  enum class Grade { kGood, kFair, kWeak, kUntested };

  int index = 0;
  Grade grade = Grade::kUntested;
  double iou = 0;    ///< 0..1; NaN when the class occurs nowhere
  int pictures = 0;  ///< in how many it is labelled; it is tested from two on
  /// The classes that its pixels were most often taken for, and their share, 0.05..1: two at most.
  std::vector<std::pair<int, double>> taken_for{};
};

/// In the order of the classes. `pictures`: of each class, in how many it is labelled.
std::vector<ClassVerdict> classVerdicts(const ConfusionMatrix& matrix, const std::vector<int>& pictures);

}  // namespace mpm::evaluation
