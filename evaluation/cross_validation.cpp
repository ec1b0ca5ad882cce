// SPDX-License-Identifier: Apache-2.0
#include "evaluation/cross_validation.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "mpm/error.hpp"

namespace mpm::vision {

using Json = nlohmann::ordered_json;

Json toJson(const ConfusionMatrix& matrix) {
  Json rows = Json::array();
  for (int truth = 0; truth < matrix.classes(); ++truth) {
    Json row = Json::array();
    for (int given = 0; given < matrix.classes(); ++given) row.push_back(matrix.count(truth, given));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::optional<ConfusionMatrix> confusionMatrixOf(const Json& rows, int classes) {
  try {
    if (rows.size() != static_cast<std::size_t>(classes)) return std::nullopt;
    ConfusionMatrix matrix(classes, -1);
    for (int truth = 0; truth < classes; ++truth)
      for (int given = 0; given < classes; ++given)
        matrix.add(truth, given, rows.at(truth).at(given).get<std::int64_t>());
    return matrix;
  } catch (const Json::exception&) {
  } catch (const Error&) {
  }
  return std::nullopt;
}

std::optional<ConfusionMatrix> readCrossValidation(const std::string& model_path, int classes) {
  std::ifstream file(std::filesystem::path(model_path).replace_extension(".json"));
  const Json facts = Json::parse(file, nullptr, false);
  const Json::json_pointer place("/taught/cross_validation/confusion");
  if (facts.is_discarded() || !facts.contains(place)) return std::nullopt;
  return confusionMatrixOf(facts[place], classes);
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

}  // namespace mpm::vision
