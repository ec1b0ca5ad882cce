// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mpm/estimator.hpp"
#include "program/terminal/output.h"
#include "vision/pictures/estimate_files.h"

namespace mpm::cli {

/// Text, JSON and files that `mpm run` makes of the estimates of a model.
class EstimateWriter {
 public:
  EstimateWriter(const ModelInfo& model, std::optional<Task> task);

  /// The ends of the names of files().
  std::vector<std::string> endings() const;
  /// End of the frame's line: "road 40 %, sky 31 %".
  std::string text(const Estimate& estimate) const;
  /// Fields of the frame's line of --json, besides those that every task has.
  Json fields(const Estimate& estimate) const;
  vision::EstimateFiles files(const Estimate& estimate, const cv::Mat& image);
  /// The picture to look at among files(): the overlay, or the depth in colours.
  static cv::Mat annotated(const vision::EstimateFiles& files);

  /// The colours of all files so far; empty when they need none.
  cv::Mat legend() const;
  /// The files of this frame, of an earlier run, count for the legend too.
  void addEarlier(const JsonValue& fields);

 private:
  std::vector<std::pair<int, double>> areas(const Estimate& estimate) const;

  ModelInfo model_;
  std::optional<Task> task_;
  std::vector<std::string> names_;
  std::vector<cv::Vec3b> colors_;
  std::set<int> drawn_;  // classes
};

}  // namespace mpm::cli
