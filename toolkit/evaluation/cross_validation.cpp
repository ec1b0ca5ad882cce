// SPDX-License-Identifier: Apache-2.0
#include "evaluation/cross_validation.h"

#include <filesystem>

#include "mpm/error.hpp"

namespace mpm::evaluation {

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

}  // namespace mpm::evaluation
