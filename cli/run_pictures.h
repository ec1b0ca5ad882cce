// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <opencv2/core.hpp>
#include <set>
#include <string>
#include <vector>

#include "mpm/model_info.hpp"
#include "mpm/run_report.hpp"
#include "vision/sources/source.h"

namespace mpm::cli {

/// The names and colours of these classes, one below the other. CV_8UC3.
cv::Mat legendPicture(const ModelInfo& model, const std::set<int>& classes);

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
