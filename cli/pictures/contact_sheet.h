// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <set>
#include <string>
#include <vector>

#include "mpm/model_info.hpp"
#include "mpm/run_report.hpp"

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

}  // namespace mpm::cli
