// SPDX-License-Identifier: Apache-2.0
#include "evaluation/cross_validation.h"

#include <algorithm>
#include <filesystem>

#include "mpm/error.hpp"

namespace mpm::evaluation {
namespace {

constexpr double kGood = 0.7, kFair = 0.5;  // IoU
constexpr double kOften = 0.05;             // share of the pixels of a class
constexpr std::size_t kOthers = 2;

}  // namespace

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

std::optional<ConfusionMatrix> readCrossValidation(const std::string& model_path, int classes) {
  const auto path = std::filesystem::path(model_path).replace_extension(".json");
  std::error_code unseen;
  if (!std::filesystem::exists(path, unseen)) return std::nullopt;
  try {
    return confusionMatrixOf(readJsonFile(path.string()).at("taught").at("cross_validation").at("confusion"), classes);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<double> correctedShares(const std::vector<double>& shares, const ConfusionMatrix& validation) {
  const int classes = validation.classes();
  std::vector<double> corrected(shares.size());
  for (int given = 0; given < classes; ++given) {
    double pixels = 0;
    for (int truth = 0; truth < classes; ++truth) pixels += static_cast<double>(validation.count(truth, given));
    if (pixels == 0) corrected[given] += shares[given];
    for (int truth = 0; truth < classes && pixels > 0; ++truth)
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
    verdict.grade = verdict.pictures < 2   ? Grade::kUntested
                    : verdict.iou >= kGood ? Grade::kGood
                    : verdict.iou >= kFair ? Grade::kFair
                                           : Grade::kWeak;
    std::vector<std::pair<double, int>> others;
    double pixels = 0;
    for (int given = 0; given < matrix.classes(); ++given) pixels += static_cast<double>(matrix.count(c, given));
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
