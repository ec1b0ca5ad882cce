// SPDX-License-Identifier: Apache-2.0
#include "evaluation/scores.h"

#include <cmath>

#include "evaluation/cross_validation.h"
#include "mpm/error.hpp"

namespace mpm::evaluation {
namespace {

constexpr const char* kConfusion = "confusion";

constexpr int kMaxImages = 1 << 30;

}  // namespace

void RunningMean::add(const RunningMean& other) {
  if (other.count_ == 0) return;
  const double a = static_cast<double>(count_), b = static_cast<double>(other.count_);
  const double step = other.mean_ - mean_;
  squares_ += other.squares_ + step * step * a * b / (a + b);
  mean_ += step * b / (a + b);
  count_ += other.count_;
}

std::optional<double> RunningMean::deviation() const {
  if (count_ < 2) return std::nullopt;
  return std::sqrt(squares_ / static_cast<double>(count_ - 1));
}

Scores::Scores(ConfusionMatrix matrix, const std::vector<double>& tokens, const StageTimes& ms)
    : images_(1), matrix_(std::move(matrix)), ms_(ms) {
  for (const double count : tokens) tokens_.emplace_back(1, count, 0);
}

Scores::Scores(const JsonValue& json, const std::vector<std::string>& names)
    : images_(json.at("images").integer(0, kMaxImages)),
      matrix_(confusionMatrixOf(json.at(kConfusion), static_cast<int>(names.size()))) {
  const auto means = json.at("tokens_mean").list(), deviations = json.at("tokens_sd").list(means.size(), means.size());
  const auto tokens = [](const JsonValue& value) { return value.json().is_null() ? 0 : value.number(0); };
  for (std::size_t i = 0; i < means.size(); ++i) tokens_.emplace_back(images_, tokens(means[i]), tokens(deviations[i]));
  ms_ = stageTimesOf(json.at("ms_mean"));
  const Json own = toJson(names);
  for (const char* key : {"miou", "pixel_accuracy", "iou"})
    if (own[key] != json.at(key).json())
      throw Error(json.at(key).place() + " is not what the counts in '" + kConfusion +
                  "' give: the file was changed, make it again");
  if (images_ == 0 && !matrix_.pairs().empty()) json.at("images").fail("the images that the pixels are of");
}

void Scores::add(const Scores& other) {
  if (images_ > 0 && other.images_ > 0 && tokens_.size() != other.tokens_.size())
    throw Error("the tokens are of " + std::to_string(other.tokens_.size()) + " steps, those before of " +
                std::to_string(tokens_.size()));
  if (images_ > kMaxImages - other.images_) throw Error("more than " + std::to_string(kMaxImages) + " images");
  matrix_.add(other.matrix_.pairs());
  if (other.images_ == 0) return;
  images_ += other.images_;
  tokens_.resize(other.tokens_.size());
  for (std::size_t i = 0; i < tokens_.size(); ++i) tokens_[i].add(other.tokens_[i]);
  for (const auto& [name, stage] : kStages) ms_.*stage += (other.ms_.*stage - ms_.*stage) * other.images_ / images_;
}

std::vector<double> Scores::tokens() const {
  std::vector<double> means;
  for (const RunningMean& mean : tokens_) means.push_back(mean.mean().value_or(0));
  return means;
}

Json Scores::toJson(const std::vector<std::string>& names) const {
  Json iou = Json::object(), tokens = Json::array(), deviations = Json::array();
  const std::vector<double> values = matrix_.iou();
  for (std::size_t c = 0; c < values.size(); ++c) iou[names[c]] = percentJson(values[c]);
  const auto rounded = [](std::optional<double> count) {
    return orNull(count ? std::round(*count * 100) / 100 : count);
  };
  for (const RunningMean& mean : tokens_) {
    tokens.push_back(rounded(mean.mean()));
    deviations.push_back(rounded(mean.deviation()));
  }
  return {{"images", images_},
          {"miou", percentJson(matrix_.meanIou())},
          {"pixel_accuracy", percentJson(matrix_.pixelAccuracy())},
          {"iou", iou},
          {"tokens_mean", tokens},
          {"tokens_sd", deviations},
          {"ms_mean", evaluation::toJson(ms_)},
          {kConfusion, evaluation::toJson(matrix_)}};
}

std::vector<std::pair<std::string, const Scores*>> Evaluation::columns() const {
  std::vector<std::pair<std::string, const Scores*>> columns = {{"all", &all}};
  if (day.images() > 0) columns.emplace_back("day", &day);
  if (night.images() > 0) columns.emplace_back("night", &night);
  return columns;
}

Json Evaluation::toJson(Json settings, const std::vector<std::string>& names) const {
  settings.update(all.toJson(names));
  for (const auto& [name, scores] : columns())
    if (name != "all") settings[name] = scores->toJson(names);
  return settings;
}

}  // namespace mpm::evaluation
