// SPDX-License-Identifier: Apache-2.0
#include "cli/scores.h"

#include <cmath>

#include "mpm/error.hpp"
#include "vision/cross_validation.h"

namespace mpm::cli {
namespace {

constexpr const char* kConfusion = "confusion";

double numberOr(const Json& json, double other) { return json.is_number() ? json.get<double>() : other; }

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

Scores::Scores(vision::ConfusionMatrix matrix, const std::vector<double>& tokens, const StageTimes& ms)
    : images_(1), matrix_(std::move(matrix)), ms_(ms) {
  for (const double count : tokens) tokens_.emplace_back(1, count, 0);
}

Scores::Scores(const Json& json, const std::vector<std::string>& names)
    : images_(json.at("images")), matrix_(static_cast<int>(names.size()), -1) {
  const int classes = matrix_.classes();
  for (int truth = 0; truth < classes; ++truth)
    for (int predicted = 0; predicted < classes; ++predicted)
      matrix_.add(truth, predicted, json.at(kConfusion).at(truth).at(predicted).get<std::int64_t>());
  for (std::size_t i = 0; i < json.at("tokens_mean").size(); ++i)
    tokens_.emplace_back(images_, numberOr(json["tokens_mean"][i], 0), numberOr(json.at("tokens_sd").at(i), 0));
  ms_ = stageTimesOf(json.at("ms_mean"));
}

void Scores::add(const Scores& other) {
  for (int truth = 0; truth < matrix_.classes(); ++truth)
    for (int predicted = 0; predicted < matrix_.classes(); ++predicted)
      matrix_.add(truth, predicted, other.matrix_.count(truth, predicted));
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
          {"ms_mean", cli::toJson(ms_)},
          {kConfusion, vision::toJson(matrix_)}};
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

void Evaluation::print(const std::vector<std::string>& names) const {
  const auto row = [this](const std::string& name, const auto& cell) {
    std::vector<std::string> cells = {name};
    for (const auto& [title, scores] : columns()) cells.push_back(" " + cell(title, *scores));
    printLine(tableRow(cells, {-18, 9}));
  };
  const auto percents = [&](const std::string& name, const auto& value) {
    row(name, [&](const std::string&, const Scores& scores) { return fixed(100 * value(scores.matrix()), 2); });
  };
  const bool split = columns().size() > 1;
  if (split) row("IoU, %", [](const std::string& title, const Scores&) { return title; });
  for (std::size_t c = 0; c < names.size(); ++c)
    percents(names[c], [&](const vision::ConfusionMatrix& matrix) { return matrix.iou()[c]; });
  percents("mIoU", [](const vision::ConfusionMatrix& matrix) { return matrix.meanIou(); });
  percents("pixel accuracy", [](const vision::ConfusionMatrix& matrix) { return matrix.pixelAccuracy(); });
  if (split) {
    row("images", [](const std::string&, const Scores& scores) { return std::to_string(scores.images()); });
    row("tokens kept", [](const std::string&, const Scores& scores) { return fixed(scores.tokens().back(), 1); });
  }
  printLine("IoU in percent over " + counted(all.images(), "image") + "; tokens " + tokensText(all.tokens()) + "; " +
            fixed(all.ms().total, 1) + " ms per image");
}

}  // namespace mpm::cli
