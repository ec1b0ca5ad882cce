// SPDX-License-Identifier: Apache-2.0
#include "gui/models/taught_model.h"

#include <filesystem>

#include "base/class_json.h"
#include "mpm/error.hpp"

namespace mpm::gui {
namespace {

namespace fs = std::filesystem;

constexpr int kMostPictures = 1 << 30;

double percent(const JsonValue& number) { return number.json().is_null() ? NAN : number.number(0, 100); }

TaughtModel::Verdict verdictOf(const JsonValue& model, const JsonValue& validation) {
  TaughtModel::Verdict verdict;
  verdict.miou = percent(validation.at("miou"));
  verdict.pixel_accuracy = percent(validation.at("pixel_accuracy"));
  for (const ClassInfo& one : classesFromJson(model.at("classes")))
    verdict.classes.push_back(QString::fromStdString(one.name));
  const auto matrix =
      evaluation::confusionMatrixOf(validation.at("confusion"), static_cast<int>(verdict.classes.size()));
  std::vector<int> pictures;
  for (const JsonValue& count : validation.at("pictures").list(verdict.classes.size(), verdict.classes.size()))
    pictures.push_back(count.integer(0, kMostPictures));
  verdict.verdicts = evaluation::classVerdicts(matrix, pictures);
  return verdict;
}

}  // namespace

std::optional<TaughtModel> readTaughtModel(const std::string& onnx_path) {
  const QFileInfo file(QString::fromStdString(onnx_path));
  if (!file.exists()) return std::nullopt;
  try {
    const JsonValue json = readJsonFile(fs::path(onnx_path).replace_extension(".json").string());
    const JsonValue taught = json.at("taught"), validation = taught.at("cross_validation");
    TaughtModel model{file.absoluteFilePath(), file.lastModified(), taught.at("pictures").integer(0, kMostPictures)};
    if (!validation.json().is_null()) model.verdict = verdictOf(json, validation);
    return model;
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
