// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_file.h"
#include "mpm/model_info.hpp"

namespace mpm::evaluation {

/// Counts that are not 0: {truth, prediction, pixels}.
using PairCounts = std::vector<std::array<std::int64_t, 3>>;

/// Pixels of a class: those that are truly of it, those that were given it, and those of both.
struct ClassPixels {
  double right = 0, truth = 0, given = 0;
};

/// Intersection over union, 0..1; NaN for a class that occurs in neither.
double iouOf(const ClassPixels& pixels);
/// Mean of iouOf() over the classes with true pixels, so that it is over the same classes for all predictions of the
/// same images. NaN where there is none.
double meanIou(const std::vector<ClassPixels>& classes);
/// Share of the pixels whose class is right, 0..1. NaN where there is none.
double pixelAccuracy(const std::vector<ClassPixels>& classes);

/// Counts of (truth, prediction) over any number of images. Not thread-safe.
class ConfusionMatrix {
 public:
  /// Pixels whose truth is `ignore` do not count.
  ConfusionMatrix(int classes, int ignore);

  /// Both CV_8U and of one size. Throws mpm::Error otherwise, when a truth label is neither a class nor `ignore`, and
  /// when a predicted one is no class.
  void add(const cv::Mat& truth, const cv::Mat& prediction);

  /// Adds pixels that were counted before. Throws mpm::Error for a class that there is not, a negative
  /// number or more than 2^46 of one truth and prediction.
  void add(int truth, int prediction, std::int64_t pixels);
  void add(const PairCounts& counts);
  PairCounts pairs() const;

  std::vector<ClassPixels> classPixels() const;
  std::vector<double> iou() const;  ///< iouOf() of each class
  double meanIou() const { return evaluation::meanIou(classPixels()); }
  double pixelAccuracy() const { return evaluation::pixelAccuracy(classPixels()); }
  std::int64_t count(int truth, int prediction) const;
  std::int64_t truePixels(int truth) const;  ///< counted, of this class
  int classes() const { return classes_; }

 private:
  int classes_;
  int ignore_;
  std::vector<std::int64_t> counts_;  // {truth, prediction}
};

/// Counts as JSON: a row for each true class, a column for each class that the model gave.
Json toJson(const ConfusionMatrix& matrix);
/// The inverse of toJson(). Throws mpm::Error naming the place for anything but counts of so many classes.
ConfusionMatrix confusionMatrixOf(const JsonValue& rows, int classes);

/// ModelFacts::cross_validation; nullopt: not known.
std::optional<ConfusionMatrix> crossValidationOf(const ModelFacts& facts);

/// The shares of the true classes, 0..1, behind the shares that a model gave to its classes, if as much of each given
/// class is truly another one as in `validation` (the error-adjusted area of Olofsson et al., "Good practices for
/// estimating area and assessing accuracy of land change", 2014). The sum stays the same. A class that the model never
/// gave in the validation, or that has no true pixel there, is taken as right.
std::vector<double> correctedShares(const std::vector<double>& shares, const ConfusionMatrix& validation);

/// How well a class was recognised on pictures that the model was not trained on.
struct ClassVerdict {
  enum class Grade { kGood, kFair, kWeak, kUntested };

  int index = 0;
  Grade grade = Grade::kUntested;
  double iou = 0;    ///< 0..1; NaN for an untested class
  int pictures = 0;  ///< in how many it is labelled; it is tested from two on
  /// The classes that its pixels were most often taken for, and their share, 0.05..1: two at most.
  std::vector<std::pair<int, double>> taken_for{};
};

/// In the order of the classes. `pictures`: of each class, in how many it is labelled.
std::vector<ClassVerdict> classVerdicts(const ConfusionMatrix& matrix, const std::vector<int>& pictures);

}  // namespace mpm::evaluation
