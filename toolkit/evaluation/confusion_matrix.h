// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <opencv2/core.hpp>
#include <vector>

namespace mpm::evaluation {

/// Counts that are not 0: {truth, prediction, pixels}.
using PairCounts = std::vector<std::array<std::int64_t, 3>>;

/// Counts of (truth, prediction) over any number of images. Not thread-safe.
class ConfusionMatrix {
 public:
  /// Pixels whose truth is `ignore` do not count.
  ConfusionMatrix(int classes, int ignore);

  /// Both CV_8U and of one size. Throws mpm::Error otherwise, or when a truth label is neither a class nor `ignore`.
  void add(const cv::Mat& truth, const cv::Mat& prediction);

  /// Adds pixels that were counted before. Throws mpm::Error for a class that there is not, a negative
  /// number or more than 2^46 in all.
  void add(int truth, int prediction, std::int64_t pixels);
  void add(const PairCounts& counts);
  PairCounts pairs() const;

  /// Intersection over union per class, 0..1; NaN for a class that occurs in neither.
  std::vector<double> iou() const;
  /// Mean of iou() over the classes with true pixels, so that it is over the same classes for all predictions of the
  /// same images. NaN where there is none.
  double meanIou() const;
  /// Share of counted pixels whose prediction is the truth, 0..1.
  double pixelAccuracy() const;
  std::int64_t count(int truth, int prediction) const;
  /// Whether any counted pixel is truly of this class.
  bool hasTruth(int label) const;
  int classes() const { return classes_; }

 private:
  int classes_;
  int ignore_;
  std::vector<std::int64_t> counts_;  // {truth, prediction}
};

}  // namespace mpm::evaluation
