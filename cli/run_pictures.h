// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <opencv2/core.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mpm/estimator.hpp"
#include "program/terminal/output.h"
#include "vision/pictures/estimate_files.h"
#include "vision/sources/source.h"

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
  /// Counts the classes of a frame that an earlier run wrote, for the legend.
  void addEarlier(const JsonValue& fields);

 private:
  std::vector<std::pair<int, double>> areas(const Estimate& estimate) const;

  ModelInfo model_;
  std::optional<Task> task_;
  std::vector<std::string> names_;
  std::vector<cv::Vec3b> colors_;
  std::set<int> drawn_;  // classes
};

/// Some images beside each other, a column each: the image, its classes, its tokens after merging. Below them the
/// colours of the classes that cover most.
class ContactSheet {
 public:
  explicit ContactSheet(const ModelInfo& model) : model_(model) {}

  /// `labels` may be empty.
  void add(const std::string& title, const cv::Mat& image, const RunReport& result, const cv::Mat& labels);
  bool empty() const { return columns_.empty(); }
  cv::Mat picture() const;

 private:
  struct Column {
    std::string title, caption;
    std::vector<cv::Mat> pictures;
  };
  const ModelInfo& model_;
  std::vector<Column> columns_;
  std::vector<double> areas_ = std::vector<double>(256);  // of each class over all images, in images
};

/// Token counts of frames that know their time.
class TokenHistory {
 public:
  explicit TokenHistory(const ModelInfo& model) : model_(model) {}

  /// Throws UsageError when the frame does not know its time.
  void add(const vision::Frame& frame, const RunReport& result);

  /// A line for each insertion over time, nights shaded; frames of one moment (several streets) become mean and band.
  cv::Mat chart() const;
  /// A heading, then a line for each hour of the day (UTC) that has frames.
  std::vector<std::string> hours() const;

 private:
  struct Moment {
    double sun_elevation = 0;
    std::vector<std::vector<double>> tokens;  // of each frame
  };
  const ModelInfo& model_;
  std::map<double, Moment> moments_;  // by unix time
};

}  // namespace mpm::cli
