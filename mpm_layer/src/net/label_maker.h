// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "layers/device_ends.h"
#include "mpm/estimator.hpp"
#include "net/guided_labels.h"
#include "net/image_net.h"
#include "net/score_rows.h"

namespace mpm {

/// Labels of images, by class scores of tokens, a map of classes or mask queries: the task kSemantic.
class LabelMaker {
 public:
  /// `net`: of a model that gives labels, which this does not own. `scores`: its first answer, if they exist.
  /// `probabilities`: givesProbabilities() of the net. Throws mpm::Error for options out of range and more than 256
  /// classes.
  LabelMaker(ImageNet& net, const EstimatorOptions& options, ScoreRows scores, bool probabilities);

  void run(const cv::Mat& image, Estimate& result) {
    options_.fit == Fit::kWindow ? runWindows(image, result) : runResized(image, result);
  }

 private:
  void runResized(const cv::Mat& image, Estimate& result);
  void runWindows(const cv::Mat& image, Estimate& result);
  void takeScores(StageTimes& ms);
  void takeLabels(const cv::Mat& image, const GuidedLabels::Scores& resize, Estimate& result,
                  const std::function<void()>& label);
  MatrixView<const float> scores() const;
  std::vector<float> tokenScores() const;
  /// One axis of the resize from scores() to the image.
  AxisResampling toImage(const AxisTaps& own, int grid, int input, int image) const;
  void runGuided(const cv::Mat& image, const GuidedLabels::Scores& logits, cv::Mat& labels);

  EstimatorOptions options_;
  ImageNet& net_;
  const ModelInfo& info_ = net_.info();
  Refine refine_;
  GuidedLabels guided_;
  ScoreRows rows_;
  bool probabilities_;              // scores() are no logits
  Size2 score_grid_;                // of scores(): the patch grid, that of the masks of queries or of a map of classes
  std::vector<float> made_scores_;  // {pixels of score_grid_, classes}, when the net gives no rows
  cv::Size labels_size_;            // of the last image; the two below are for it
  AxisResampling label_rows_, label_columns_;
  std::unique_ptr<DeviceLabels> device_labels_;  // instead of the scores, if nothing else needs them
};

}  // namespace mpm
