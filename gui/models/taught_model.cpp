// SPDX-License-Identifier: Apache-2.0
#include "gui/models/taught_model.h"

#include <QFileInfo>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "evaluation/cross_validation.h"
#include "mpm/error.hpp"

namespace mpm::gui {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

double percent(const Json& number) { return number.is_number() ? number.get<double>() : NAN; }

TaughtModel::Verdict verdictOf(const Json& model, const Json& validation) {
  TaughtModel::Verdict verdict;
  verdict.miou = percent(validation.at("miou"));
  verdict.pixel_accuracy = percent(validation.at("pixel_accuracy"));
  for (const Json& one : model.at("classes"))
    verdict.classes.push_back(QString::fromStdString(one.at("name").get<std::string>()));
  const auto matrix = vision::confusionMatrixOf(validation.at("confusion"), static_cast<int>(verdict.classes.size()));
  if (!matrix) throw Error("no counts of its classes");
  verdict.verdicts = vision::classVerdicts(*matrix, validation.at("pictures").get<std::vector<int>>());
  return verdict;
}

}  // namespace

std::optional<TaughtModel> readTaughtModel(const std::string& onnx_path) {
  const QFileInfo file(QString::fromStdString(onnx_path));
  if (!file.exists()) return std::nullopt;
  try {
    const Json json = Json::parse(readFile(fs::path(onnx_path).replace_extension(".json").string()));
    const Json& taught = json.at("taught");
    TaughtModel model{file.absoluteFilePath(), file.lastModified(), taught.at("pictures").get<int>()};
    if (const Json& validation = taught.at("cross_validation"); !validation.is_null())
      model.verdict = verdictOf(json, validation);
    return model;
  } catch (const Json::exception&) {
  } catch (const std::out_of_range&) {
  } catch (const Error&) {
  }
  return std::nullopt;
}

std::vector<TaughtModel> taughtModels(const std::string& folder) {
  std::vector<TaughtModel> models;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".onnx")
      if (auto model = readTaughtModel(entry->path().string())) models.push_back(std::move(*model));
  std::sort(models.begin(), models.end(), [](const TaughtModel& a, const TaughtModel& b) {
    return std::pair(a.time, a.path) > std::pair(b.time, b.path);
  });
  return models;
}

}  // namespace mpm::gui
