// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "evaluation/confusion_matrix.h"
#include "evaluation/numbers.h"
#include "evaluation/statistics.h"

namespace mpm::evaluation {

/// The counts of `mpm eval` over some of the images.
class Scores {
 public:
  /// Pixels whose truth is `ignore` do not count.
  Scores(int classes, int ignore) : matrix_(classes, ignore) {}
  /// The counts of one image.
  Scores(ConfusionMatrix matrix, const std::vector<double>& tokens, const StageTimes& ms);

  /// Throws mpm::Error for scores of another number of merging steps, and where a sum is too large.
  void add(const Scores& other);

  int images() const { return images_; }
  const ConfusionMatrix& matrix() const { return matrix_; }
  /// Mean tokens before the first insertion and after each.
  std::vector<double> tokens() const;
  const StageTimes& ms() const { return ms_; }  ///< mean over the images

  /// {"images", "miou", "pixel_accuracy", "iou", "tokens_mean", "tokens_sd", "ms_mean", "confusion"}, percent and ms.
  Json toJson(const std::vector<std::string>& names) const;

 private:
  int images_ = 0;
  ConfusionMatrix matrix_;
  std::vector<PerImage> tokens_;
  StageTimes ms_;
};

/// Scores over all images; of the scene by day and by night, too.
struct Evaluation {
  Scores all, day, night;

  // Columns of the table. Without day and night there is one.
  std::vector<std::pair<std::string, const Scores*>> columns() const;
  /// Adds the fields of all.toJson(), and "day" and "night" where they are known.
  Json toJson(Json settings, const std::vector<std::string>& names) const;
};

}  // namespace mpm::evaluation
