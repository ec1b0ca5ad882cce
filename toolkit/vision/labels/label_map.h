// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

namespace mpm::vision {

/// The label map in a file: CV_8U, the class index of each pixel. Throws mpm::Error naming the file.
cv::Mat readLabelMap(const std::string& path);

/// The label maps of a folder (PNG, BMP, TIFF) by their names without extension. Throws mpm::Error naming the folder,
/// or two maps of one name.
std::map<std::string, std::string> labelMapFiles(const std::string& folder);

/// The meaning of each label in a file: a class, void (pixels that do not count), or nothing that is allowed.
class LabelMeaning {
 public:
  static constexpr int kVoid = -1;

  /// Labels in `ignored` are void; to the others `offset` is added, and what falls below 0 is void. Void becomes
  /// `void_label`, or where that is negative the highest number that no label becomes.
  LabelMeaning(const std::vector<int>& ignored, int offset, int classes, int void_label = -1);
  /// The class of each label, kVoid for those that do not count.
  LabelMeaning(const std::array<int, 256>& class_of_label, int classes);

  /// -1 where nothing is void.
  int voidLabel() const { return void_; }

  /// CV_8U of the same size. Throws mpm::Error naming a label that is neither a class nor void.
  cv::Mat applied(const cv::Mat& labels) const;

 private:
  void chooseVoidLabel();

  int offset_, classes_, void_;
  std::array<int, 256> class_of_{};
};

}  // namespace mpm::vision
