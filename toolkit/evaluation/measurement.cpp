// SPDX-License-Identifier: Apache-2.0
#include "evaluation/measurement.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <opencv2/imgproc.hpp>

#include "mpm/error.hpp"

namespace mpm::evaluation {
namespace {

constexpr int kMaxDistance = 16;

ConfusionMatrix matrixOf(const cv::Mat& truth, const cv::Mat& labels, int classes, int void_label) {
  ConfusionMatrix matrix(classes, void_label);
  matrix.add(truth, labels);
  return matrix;
}

/// Distances and classes of the tokens that share a cluster. The class is that of the pixel in the middle of the patch.
void addPairs(const Estimate& result, const Truth& truth, Json& line) {
  const int width = result.grid.width;
  std::map<int, std::vector<int>> members;
  const std::vector<int>& clusters = result.cluster_of_token.back();
  for (int token = 0; token < static_cast<int>(clusters.size()); ++token)
    members[clusters[static_cast<std::size_t>(token)]].push_back(token);
  const auto classOf = [&](int token) {
    const int y = (2 * (token / width) + 1) * truth.labels.rows / (2 * result.grid.height);
    const int x = (2 * (token % width) + 1) * truth.labels.cols / (2 * width);
    return static_cast<int>(truth.labels.at<unsigned char>(y, x));
  };
  std::vector<std::int64_t> distances(kMaxDistance + 1);
  std::int64_t with_class = 0, of_one_class = 0;
  for (const auto& [cluster, tokens] : members)
    for (std::size_t i = 0; i < tokens.size(); ++i)
      for (std::size_t j = i + 1; j < tokens.size(); ++j) {
        const double distance =
            std::hypot(tokens[i] / width - tokens[j] / width, tokens[i] % width - tokens[j] % width);
        ++distances[static_cast<std::size_t>(std::min(kMaxDistance, static_cast<int>(std::lround(distance))))];
        const int a = classOf(tokens[i]), b = classOf(tokens[j]);
        if (a == truth.void_label || b == truth.void_label) continue;
        ++with_class;
        of_one_class += a == b;
      }
  line.update(
      {{"pairs_at_distance", distances}, {"pairs_with_class", with_class}, {"pairs_of_one_class", of_one_class}});
}

const std::pair<const char*, double (ConfusionMatrix::*)() const> kScores[] = {
    {"miou_percent", &ConfusionMatrix::meanIou}, {"pixel_accuracy_percent", &ConfusionMatrix::pixelAccuracy}};

// The numbers that may be null, with their keys.
constexpr std::pair<const char*, std::optional<double> Measurement::*> kNumbers[] = {
    {"full_ms", &Measurement::full_ms},
    {"agreement_percent", &Measurement::agreement},
    {"rows_share", &Measurement::rows},
    {"due_agreement_percent", &Measurement::due_agreement}};

Json intervalJson(double mean, std::optional<double> half) {
  const double reach = half.value_or(std::nan(""));
  return {{"mean", orNull(mean)}, {"low", orNull(mean - reach)}, {"high", orNull(mean + reach)}};
}

}  // namespace

Truth::Truth(cv::Mat all, int ignored) : labels(std::move(all)), near(labels.clone()), void_label(ignored) {
  if (labels.empty()) return;
  const cv::Mat around = cv::getStructuringElement(cv::MORPH_RECT, {2 * kNearPixels + 1, 2 * kNearPixels + 1});
  const cv::Mat nothing = labels == void_label;  // is beside no class
  cv::Mat highest, lowest;
  cv::dilate(labels.clone().setTo(0, nothing), highest, around);
  cv::erode(labels.clone().setTo(255, nothing), lowest, around);
  near.setTo(void_label, highest == lowest);
}

Measurement measurementOf(Json line, const Estimate& result, const Estimate* full, const Truth& truth, bool first,
                          const FlopCounter* flops) {
  Measurement one{.line = std::move(line), .tokens = result.tokens, .ms = result.ms};
  if (full && !first) {
    one.full_ms = full->ms.total;
    one.agreement = agreementPercent(result, *full);
  }
  if (result.reuse && !first) {
    one.rows = result.reuse->rows;
    one.key_frame = result.reuse->key_frame;
    one.due_agreement = result.reuse->agreement;
  }
  Json& json = one.line;
  json["tokens"] = one.tokens;
  for (const auto& [key, head_restored] : {std::pair("gflop", false), {"gflop_head_restored", true}})
    json[key] = flops ? Json(flops->count(one.tokens, head_restored) / 1e9) : Json(nullptr);
  if (flops) json["gflop_terms"] = flops->gflopTerms();
  const Json stages = toJson(one.ms);
  for (const auto& [name, ms] : stages.items()) json[name + "_ms"] = ms;
  json["blocks_ms"] = one.ms.blocks;
  for (const auto& [key, number] : kNumbers) json[key] = orNull(one.*number);
  json["key_frame"] = one.key_frame;
  if (truth.labels.empty()) return one;
  const int classes = static_cast<int>(json.at("classes").size());
  const ConfusionMatrix matrix = matrixOf(truth.labels, result.labels, classes, truth.void_label);
  one.counts = matrix.pairs();
  for (const auto& [key, score] : kScores) json[key] = percentJson((matrix.*score)());
  json["confusion"] = one.counts;
  json["confusion_near"] = matrixOf(truth.near, result.labels, classes, truth.void_label).pairs();
  // Windows keep the clusters of the first one, and the grid of tokens is not that of the image.
  if (!result.cluster_of_token.empty() && json.at("fit") != "window") addPairs(result, truth, json);
  return one;
}

Measurement Measurement::read(const JsonValue& json) {
  Measurement one{.line = json.json()};
  if (json.has("night")) one.night = json.at("night").flag();
  if (json.has("film")) one.film = json.at("film").integer(0, 1 << 30);
  for (const JsonValue& count : json.at("tokens").list(1)) one.tokens.push_back(count.number(0));
  for (const auto& [name, stage] : kStages) one.ms.*stage = json.at(name + std::string("_ms")).number(0);
  for (const auto& [key, number] : kNumbers)
    if (const JsonValue value = json.at(key); !value.json().is_null()) one.*number = value.number(0);
  one.key_frame = json.at("key_frame").flag();
  if (!json.has("confusion")) return one;
  const int last = static_cast<int>(json.at("classes").list(1, 256).size()) - 1;
  ConfusionMatrix matrix(last + 1, -1);
  for (const JsonValue& pair : json.at("confusion").list()) {
    const auto counts = pair.list(3, 3);
    pair.named([&] { matrix.add(counts[0].integer(0, last), counts[1].integer(0, last), counts[2].count()); });
  }
  one.counts = matrix.pairs();
  for (const auto& [key, score] : kScores)
    if (json.at(key).json() != percentJson((matrix.*score)()))
      throw Error(json.at(key).place() + " is not what its counts give: remove that line, and its image is done again");
  return one;
}

void Scores::add(const Measurement& one) {
  if (images_ > 0 && one.tokens.size() != tokens_.size())
    throw Error("the tokens are of " + std::to_string(one.tokens.size()) + " steps, those before of " +
                std::to_string(tokens_.size()));
  matrix_.add(one.counts);
  ++images_;
  tokens_.resize(one.tokens.size());
  for (std::size_t i = 0; i < tokens_.size(); ++i) tokens_[i].add(one.tokens[i]);
  for (const auto& [name, stage] : kStages) ms_.*stage += (one.ms.*stage - ms_.*stage) / images_;
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

void VariantResult::add(const Measurement& one) {
  labelled = labelled || one.line.contains("confusion");
  sessions.insert(one.line.value("session", ""));
  all.add(one);
  if (one.night) (*one.night ? night : day).add(one);
  tokens_.push_back({one.line.value("source", "") + "/" + one.line.value("name", ""), one.night.value_or(false),
                     one.film, one.tokens});
  if (one.agreement) agreement.add(*one.agreement);
  if (one.rows) rows_.add(*one.rows);
  if (one.due_agreement) due_agreement_.add(*one.due_agreement);
  key_frames_ += one.key_frame;
  if (!one.full_ms) return;
  speed_up.add(*one.full_ms / one.ms.total);
  full_ms_ += *one.full_ms;
  ms_ += one.ms.total;
}

std::vector<std::pair<std::string, const Scores*>> VariantResult::columns() const {
  std::vector<std::pair<std::string, const Scores*>> columns = {{"all", &all}};
  if (day.images() > 0) columns.emplace_back("day", &day);
  if (night.images() > 0) columns.emplace_back("night", &night);
  return columns;
}

Json VariantResult::toJson(Json settings, const std::vector<std::string>& names) const {
  settings.update(all.toJson(names));
  for (const auto& [name, scores] : columns())
    if (name != "all") settings[name] = scores->toJson(names);
  return settings;
}

std::set<std::string> VariantResult::images() const {
  std::set<std::string> images;
  for (const Tokens& one : tokens_) images.insert(one.image);
  return images;
}

Json VariantResult::reuseJson() const {
  if (rows_.values.empty()) return nullptr;
  return {{"rows", rows_.mean()},
          {"key_frames", key_frames_},
          {"agreement", orNull(due_agreement_.mean())},
          {"share_of_full_ms", orNull(ms_ / full_ms_)}};
}

Json VariantResult::minus(const VariantResult& other) const {
  std::map<std::string, const std::vector<double>*> of_image;  // lines of --resume may be in another order
  for (const Tokens& one : other.tokens_) of_image[one.image] = &one.counts;
  std::vector<int> films;
  std::vector<std::pair<const std::vector<double>*, const std::vector<double>*>> images;
  for (const Tokens& one : tokens_)
    if (const auto pair = of_image.find(one.image); pair != of_image.end() && !one.night) {
      images.emplace_back(&one.counts, pair->second);
      films.push_back(one.film);
    }
  const std::vector<int> blocks = blocksOf(films);
  Json json = {{"images", images.size()},
               {"blocks", blocks.empty() ? 0 : blocks.back() + 1},
               {"tokens", Json::array()},
               {"merged_percent", nullptr}};
  if (images.empty()) return json;
  const std::size_t steps = images[0].first->size();
  for (std::size_t step = 0; step < steps; ++step) {
    PerImage more;
    for (const auto& [mine, others] : images) more.add((*mine)[step] - (*others)[step]);
    json["tokens"].push_back(intervalJson(more.mean(), halfInterval(more.values, blocks)));
  }
  // Tokens merged away by all steps, as a ratio of means. Its interval is that of the residuals.
  PerImage by_day, by_night, residual;
  for (const auto& [mine, others] : images) {
    by_day.add(others->front() - others->back());
    by_night.add(mine->front() - mine->back());
  }
  const double ratio = by_night.mean() / by_day.mean();
  for (std::size_t i = 0; i < images.size(); ++i) residual.add(by_night.values[i] - ratio * by_day.values[i]);
  std::optional<double> half = halfInterval(residual.values, blocks);
  if (half) *half *= 100 / by_day.mean();
  json["merged_percent"] = intervalJson(100 * (ratio - 1), half);
  return json;
}

}  // namespace mpm::evaluation
