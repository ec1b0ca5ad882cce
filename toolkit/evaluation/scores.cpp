// SPDX-License-Identifier: Apache-2.0
#include "evaluation/scores.h"

#include <algorithm>
#include <cmath>

#include "evaluation/cross_validation.h"
#include "mpm/error.hpp"

namespace mpm::evaluation {

Scores::Scores(ConfusionMatrix matrix, const std::vector<double>& tokens, const StageTimes& ms)
    : images_(1), matrix_(std::move(matrix)), ms_(ms) {
  for (const double count : tokens) tokens_.push_back({{count}});
}

void Scores::add(const Scores& other) {
  if (images_ > 0 && other.images_ > 0 && tokens_.size() != other.tokens_.size())
    throw Error("the tokens are of " + std::to_string(other.tokens_.size()) + " steps, those before of " +
                std::to_string(tokens_.size()));
  matrix_.add(other.matrix_.pairs());
  if (other.images_ == 0) return;
  images_ += other.images_;
  tokens_.resize(other.tokens_.size());
  for (std::size_t i = 0; i < tokens_.size(); ++i) tokens_[i].add(other.tokens_[i]);
  for (const auto& [name, stage] : kStages) ms_.*stage += (other.ms_.*stage - ms_.*stage) * other.images_ / images_;
}

std::vector<double> Scores::tokens() const {
  std::vector<double> means;
  for (const PerImage& sample : tokens_) means.push_back(sample.mean());
  return means;
}

Json Scores::toJson(const std::vector<std::string>& names) const {
  Json iou = Json::object(), tokens = Json::array(), deviations = Json::array();
  const std::vector<double> values = matrix_.iou();
  for (std::size_t c = 0; c < std::min(values.size(), names.size()); ++c) iou[names[c]] = percentJson(values[c]);
  const auto rounded = [](std::optional<double> count) {
    return orNull(count ? std::round(*count * 100) / 100 : count);
  };
  for (const PerImage& sample : tokens_) {
    tokens.push_back(rounded(sample.mean()));
    deviations.push_back(rounded(sample.deviation()));
  }
  return {{"images", images_},
          {"miou", percentJson(matrix_.meanIou())},
          {"pixel_accuracy", percentJson(matrix_.pixelAccuracy())},
          {"iou", iou},
          {"tokens_mean", tokens},
          {"tokens_sd", deviations},
          {"ms_mean", evaluation::toJson(ms_)},
          {"confusion", evaluation::toJson(matrix_)}};
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
