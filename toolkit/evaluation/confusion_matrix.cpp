// SPDX-License-Identifier: Apache-2.0
#include "evaluation/confusion_matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/size_text.h"
#include "mpm/error.hpp"

namespace mpm::evaluation {
namespace {

constexpr int kLabels = 256;                // what CV_8U can hold
constexpr double kGood = 0.7, kFair = 0.5;  // IoU
constexpr double kOften = 0.05;             // share of the pixels of a class
constexpr std::size_t kOthers = 2;

}  // namespace

ConfusionMatrix::ConfusionMatrix(int classes, int ignore) : classes_(classes), ignore_(ignore) {
  if (classes < 1 || classes > kLabels)
    throw Error("an evaluation needs 1 to 256 classes, not " + std::to_string(classes));
  counts_.resize(static_cast<std::size_t>(classes) * classes);
}

void ConfusionMatrix::add(const cv::Mat& truth, const cv::Mat& prediction) {
  if (truth.type() != CV_8UC1 || prediction.type() != CV_8UC1)
    throw Error("a label map has one channel of 8 bits, the class index");
  if (truth.size() != prediction.size()) {
    throw Error("the label map is " + sizeText({truth.rows, truth.cols}) + ", the image " +
                sizeText({prediction.rows, prediction.cols}));
  }

  // Counted over all 256 x 256 byte pairs first: no branch per pixel, and nothing is kept of a map that is refused.
  std::vector<std::int64_t> pairs(static_cast<std::size_t>(kLabels) * kLabels);
  for (int y = 0; y < truth.rows; ++y) {
    const auto* true_row = truth.ptr<std::uint8_t>(y);
    const auto* predicted_row = prediction.ptr<std::uint8_t>(y);
    for (int x = 0; x < truth.cols; ++x) ++pairs[static_cast<std::size_t>(true_row[x]) * kLabels + predicted_row[x]];
  }
  for (int label = 0; label < kLabels; ++label) {
    if (label == ignore_) continue;
    const auto* row = pairs.data() + static_cast<std::size_t>(label) * kLabels;
    if (label >= classes_ && std::any_of(row, row + kLabels, [](std::int64_t n) { return n > 0; })) {
      throw Error("the label map holds " + std::to_string(label) + ", which is neither one of the " +
                  std::to_string(classes_) + " classes nor the ignored label " + std::to_string(ignore_));
    }
    if (std::any_of(row + classes_, row + kLabels, [](std::int64_t n) { return n > 0; }))
      throw Error("the prediction holds a label beyond the " + std::to_string(classes_) + " classes");
  }
  for (int label = 0; label < classes_; ++label) {
    if (label == ignore_) continue;
    const auto* row = pairs.data() + static_cast<std::size_t>(label) * kLabels;
    std::transform(row, row + classes_, counts_.begin() + static_cast<std::ptrdiff_t>(label) * classes_,
                   counts_.begin() + static_cast<std::ptrdiff_t>(label) * classes_, std::plus<>());
  }
}

void ConfusionMatrix::add(int truth, int prediction, std::int64_t pixels) {
  if (std::min(truth, prediction) < 0 || std::max(truth, prediction) >= classes_ || pixels < 0) {
    throw Error("there is no count of " + std::to_string(pixels) + " pixels for the classes " + std::to_string(truth) +
                " and " + std::to_string(prediction) + " of " + std::to_string(classes_));
  }
  std::int64_t& count = counts_[static_cast<std::size_t>(truth) * classes_ + prediction];
  constexpr std::int64_t kMaxPixels = std::int64_t{1} << 46;  // the sum of all 256 x 256 counts has 62 bits
  if (pixels > kMaxPixels - count) throw Error("more pixels of a class than can be counted");
  count += pixels;
}

void ConfusionMatrix::add(const PairCounts& counts) {
  for (const auto& [truth, prediction, pixels] : counts)
    add(static_cast<int>(truth), static_cast<int>(prediction), pixels);
}

PairCounts ConfusionMatrix::pairs() const {
  PairCounts pairs;
  for (int truth = 0; truth < classes_; ++truth) {
    for (int prediction = 0; prediction < classes_; ++prediction)
      if (const std::int64_t pixels = count(truth, prediction)) pairs.push_back({truth, prediction, pixels});
  }
  return pairs;
}

std::int64_t ConfusionMatrix::count(int truth, int prediction) const {
  return counts_.at(static_cast<std::size_t>(truth) * classes_ + prediction);
}

std::int64_t ConfusionMatrix::truePixels(int truth) const {
  const auto row = counts_.begin() + static_cast<std::ptrdiff_t>(truth) * classes_;
  return std::accumulate(row, row + classes_, std::int64_t{0});
}

std::vector<ClassPixels> ConfusionMatrix::classPixels() const {
  std::vector<ClassPixels> classes(classes_);
  for (const auto& [truth, given, pixels] : pairs()) {
    const auto counted = static_cast<double>(pixels);
    classes[truth].truth += counted;
    classes[given].given += counted;
    if (truth == given) classes[truth].right += counted;
  }
  return classes;
}

std::vector<double> ConfusionMatrix::iou() const {
  std::vector<double> result;
  for (const ClassPixels& pixels : classPixels()) result.push_back(iouOf(pixels));
  return result;
}

double iouOf(const ClassPixels& pixels) {
  const double united = pixels.truth + pixels.given - pixels.right;
  return united > 0 ? pixels.right / united : std::numeric_limits<double>::quiet_NaN();
}

double meanIou(const std::vector<ClassPixels>& classes) {
  double sum = 0;
  int with_truth = 0;
  for (const ClassPixels& pixels : classes) {
    if (pixels.truth == 0) continue;
    sum += iouOf(pixels);
    ++with_truth;
  }
  return with_truth ? sum / with_truth : std::numeric_limits<double>::quiet_NaN();
}

double pixelAccuracy(const std::vector<ClassPixels>& classes) {
  double right = 0, all = 0;
  for (const ClassPixels& pixels : classes) {
    right += pixels.right;
    all += pixels.truth;
  }
  return all > 0 ? right / all : std::numeric_limits<double>::quiet_NaN();
}

Json toJson(const ConfusionMatrix& matrix) {
  Json rows = Json::array();
  for (int truth = 0; truth < matrix.classes(); ++truth) {
    Json row = Json::array();
    for (int given = 0; given < matrix.classes(); ++given) row.push_back(matrix.count(truth, given));
    rows.push_back(std::move(row));
  }
  return rows;
}

ConfusionMatrix confusionMatrixOf(const JsonValue& rows, int classes) {
  const auto count = static_cast<std::size_t>(classes);
  ConfusionMatrix matrix(classes, -1);
  const auto lines = rows.list(count, count);
  for (int truth = 0; truth < classes; ++truth) {
    const auto counts = lines[static_cast<std::size_t>(truth)].list(count, count);
    for (int given = 0; given < classes; ++given)
      matrix.add(truth, given, counts[static_cast<std::size_t>(given)].count());
  }
  return matrix;
}

std::optional<ConfusionMatrix> crossValidationOf(const ModelFacts& facts) {
  if (facts.cross_validation.empty()) return std::nullopt;
  const int classes = static_cast<int>(facts.cross_validation.size());
  ConfusionMatrix matrix(classes, -1);
  for (int truth = 0; truth < classes; ++truth) {
    for (int given = 0; given < classes; ++given) {
      matrix.add(truth, given,
                 facts.cross_validation[static_cast<std::size_t>(truth)][static_cast<std::size_t>(given)]);
    }
  }
  return matrix;
}

std::vector<double> correctedShares(const std::vector<double>& shares, const ConfusionMatrix& validation) {
  const int classes = validation.classes();
  std::vector<double> corrected(shares.size());
  for (int given = 0; given < classes; ++given) {
    double pixels = 0;
    for (int truth = 0; truth < classes; ++truth) pixels += static_cast<double>(validation.count(truth, given));
    const bool tested = pixels > 0 && validation.truePixels(given) > 0;
    if (!tested) corrected[given] += shares[given];
    for (int truth = 0; truth < classes && tested; ++truth)
      corrected[truth] += shares[given] * static_cast<double>(validation.count(truth, given)) / pixels;
  }
  return corrected;
}

std::vector<ClassVerdict> classVerdicts(const ConfusionMatrix& matrix, const std::vector<int>& pictures) {
  using Grade = ClassVerdict::Grade;
  std::vector<ClassVerdict> verdicts;
  const std::vector<double> iou = matrix.iou();
  for (int c = 0; c < matrix.classes(); ++c) {
    const auto index = static_cast<std::size_t>(c);
    ClassVerdict verdict{.index = c, .iou = iou[index], .pictures = pictures.at(index)};
    const auto pixels = static_cast<double>(matrix.truePixels(c));
    if (verdict.pictures < 2 || pixels == 0) verdict.iou = std::numeric_limits<double>::quiet_NaN();
    verdict.grade = std::isnan(verdict.iou) ? Grade::kUntested
                    : verdict.iou >= kGood  ? Grade::kGood
                    : verdict.iou >= kFair  ? Grade::kFair
                                            : Grade::kWeak;
    std::vector<std::pair<double, int>> others;
    for (int given = 0; given < matrix.classes(); ++given)
      if (given != c) others.emplace_back(static_cast<double>(matrix.count(c, given)) / std::max(1., pixels), given);
    std::sort(others.rbegin(), others.rend());
    for (const auto& [share, given] : others)
      if (share >= kOften && verdict.taken_for.size() < kOthers) verdict.taken_for.emplace_back(given, share);
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

}  // namespace mpm::evaluation
