// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpm/model_info.hpp"

namespace mpm::vision {

/// A different name for every class of a model: the model's own, or "class_3" where it has none. A name that occurs
/// twice gets the index of its class as well.
std::vector<std::string> classNames(const ModelInfo& model);

/// The name of a label, "class_3" if it has none in `names`.
std::string className(const std::vector<std::string>& names, int label);

/// The colour, BGR, that people expect of a class of this name, in English or French: "blue sky", "arbres"; or none.
std::optional<cv::Vec3b> usualColor(const std::string& name);

/// Share of the pixels, 0..1, of each class that occurs in a CV_8U label map, ascending by class. Empty for an empty
/// map. With a mask, CV_8UC1, of the pixels inside.
std::vector<std::pair<int, double>> classAreas(const cv::Mat& labels, const cv::Mat& mask = {});

/// The content of classes.json. The order of the classes gives their numbers in label maps.
struct ClassList {
  static constexpr std::size_t kMaxClasses = 255;

  std::vector<ClassInfo> classes;
  int ignore = 255;  ///< label of pixels that are not labelled

  int count() const { return static_cast<int>(classes.size()); }
  /// Throws mpm::Error that begins with `what`: two classes of one name, a class without a name, more than kMaxClasses.
  void validate(const std::string& what) const;
};

/// Reads classes.json, the .json beside a model, or a bare list. Throws mpm::Error naming the file.
ClassList readClassList(const std::string& path);
/// Writes {"classes", "ignore"}, whole or not at all. Throws mpm::Error naming the file.
void writeClassList(const std::string& path, const ClassList& list);

}  // namespace mpm::vision
