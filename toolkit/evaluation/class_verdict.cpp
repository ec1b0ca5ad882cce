// SPDX-License-Identifier: Apache-2.0
#include "evaluation/class_verdict.h"

#include <algorithm>

namespace mpm::evaluation {
namespace {

constexpr double kGood = 0.7, kFair = 0.5;  // IoU
constexpr double kOften = 0.05;             // share of the pixels of a class
constexpr std::size_t kOthers = 2;

}  // namespace

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
