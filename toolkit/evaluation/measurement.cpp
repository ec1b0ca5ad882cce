// SPDX-License-Identifier: Apache-2.0
#include "evaluation/measurement.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <opencv2/imgproc.hpp>
#include <tuple>

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
void addPairs(const Estimate& result, const Truth& truth, Measurement& one) {
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
  std::vector<std::int64_t>& distances = one.pairs_at_distance;
  distances.resize(kMaxDistance + 1);
  for (const auto& [cluster, tokens] : members) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      for (std::size_t j = i + 1; j < tokens.size(); ++j) {
        const double distance =
            std::hypot(tokens[i] / width - tokens[j] / width, tokens[i] % width - tokens[j] % width);
        ++distances[static_cast<std::size_t>(std::min(kMaxDistance, static_cast<int>(std::lround(distance))))];
        const int a = classOf(tokens[i]), b = classOf(tokens[j]);
        if (a == truth.void_label || b == truth.void_label) continue;
        ++one.pairs_with_class;
        one.pairs_of_one_class += a == b;
      }
    }
  }
  one.line.update({{"pairs_at_distance", distances},
                   {"pairs_with_class", one.pairs_with_class},
                   {"pairs_of_one_class", one.pairs_of_one_class}});
}

const std::pair<const char*, double (ConfusionMatrix::*)() const> kScores[] = {
    {"miou_percent", &ConfusionMatrix::meanIou}, {"pixel_accuracy_percent", &ConfusionMatrix::pixelAccuracy}};

// The numbers that may be null, with their keys.
constexpr std::pair<const char*, std::optional<double> Measurement::*> kNumbers[] = {
    {"full_ms", &Measurement::full_ms}, {"agreement_percent", &Measurement::agreement},
    {"rows_share", &Measurement::rows}, {"due_agreement_percent", &Measurement::due_agreement},
    {"gflop", &Measurement::gflop},     {"gflop_head_restored", &Measurement::gflop_head_restored}};

Json meanJson(const Interval& interval) {
  return {{"mean", orNull(interval.value)}, {"low", orNull(interval.low)}, {"high", orNull(interval.high)}};
}

// So that a line has the very number that is in memory: a result that goes on is that of one run.
double wholeNanoseconds(double ms) { return std::round(ms * 1e6) / 1e6; }

// Of what the line says about the image.
void addImage(Measurement& one) {
  const Json& json = one.line;
  one.name = textOf(json, "name");
  one.image = imageOf(json);
  one.film = textOf(json, "film");
  one.session = textOf(json, "session");
  if (const auto index = json.find("index"); index != json.end()) one.index = index->get<int>();
  if (const auto night = json.find("night"); night != json.end()) one.night = night->get<bool>();
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

std::string imageOf(const Json& line) {
  const std::string picture = textOf(line, "picture_digest");
  return (picture.empty() ? textOf(line, "source") : picture + " " + textOf(line, "labels_digest")) + "/" +
         textOf(line, "name");
}

Measurement measurementOf(Json line, const Estimate& result, const Estimate* full, const Truth& truth, bool first,
                          const FlopCounter* flops) {
  Measurement one{.line = std::move(line), .tokens = result.tokens, .ms = result.ms};
  for (const auto& [name, stage] : kStages) one.ms.*stage = wholeNanoseconds(one.ms.*stage);
  std::ranges::transform(one.ms.blocks, one.ms.blocks.begin(), wholeNanoseconds);
  if (full && !first) {
    one.full_ms = wholeNanoseconds(full->ms.total);
    one.agreement = agreementPercent(result, *full);
  }
  if (result.reuse && !first) {
    one.rows = result.reuse->rows;
    one.key_frame = result.reuse->key_frame;
    one.due_agreement = result.reuse->agreement;
  }
  Json& json = one.line;
  json["tokens"] = one.tokens;
  if (flops) one.gflop = flops->countOf(result) / 1e9;
  if (flops) one.gflop_head_restored = flops->countOf(result, true) / 1e9;
  if (flops) json["gflop_terms"] = one.gflop_terms = flops->gflopTerms();
  for (const auto& [name, stage] : kStages) json[name + std::string("_ms")] = one.ms.*stage;
  json["blocks_ms"] = one.ms.blocks;
  for (const auto& [key, number] : kNumbers) json[key] = orNull(one.*number);
  json["key_frame"] = one.key_frame;
  addImage(one);
  if (truth.labels.empty()) return one;
  const int classes = static_cast<int>(json.at("classes").size());
  const ConfusionMatrix matrix = matrixOf(truth.labels, result.labels, classes, truth.void_label);
  one.counts = matrix.pairs();
  for (const auto& [key, score] : kScores) json[key] = percentJson((matrix.*score)());
  one.near = matrixOf(truth.near, result.labels, classes, truth.void_label).pairs();
  json["confusion"] = one.counts;
  json["confusion_near"] = one.near;
  // Windows keep the clusters of the first one, and the grid of tokens is not that of the image.
  if (!result.cluster_of_token.empty() && json.at("fit") != "window") addPairs(result, truth, one);
  return one;
}

Measurement Measurement::read(const JsonValue& json) {
  Measurement one{.line = json.json()};
  for (const char* key : {"data", "film", "source", "name", "session"})
    if (json.has(key)) json.at(key).text();
  if (json.has("index")) json.at("index").integer(0, std::numeric_limits<int>::max());
  if (json.has("night")) json.at("night").flag();
  addImage(one);
  for (const JsonValue& count : json.at("tokens").list(1)) one.tokens.push_back(count.number(0));
  for (const auto& [name, stage] : kStages) one.ms.*stage = json.at(name + std::string("_ms")).number(0);
  for (const JsonValue& ms : json.at("blocks_ms").list()) one.ms.blocks.push_back(ms.number(0));
  for (const auto& [key, number] : kNumbers)
    if (const JsonValue value = json.at(key); !value.json().is_null()) one.*number = value.number(0);
  one.key_frame = json.at("key_frame").flag();
  if (const auto terms = json.find("gflop_terms")) {
    for (const JsonValue& step : terms->list(1)) {
      const std::vector<JsonValue> parts = step.list(3, 3);
      one.gflop_terms.push_back({parts[0].number(), parts[1].number(), parts[2].number()});
    }
  }
  if (json.has("pairs_at_distance")) {
    for (const JsonValue& count : json.at("pairs_at_distance").list()) one.pairs_at_distance.push_back(count.count());
    one.pairs_with_class = json.at("pairs_with_class").count();
    one.pairs_of_one_class = json.at("pairs_of_one_class").count();
  }
  if (!json.has("confusion")) return one;
  const int last = static_cast<int>(json.at("classes").list(1, 256).size()) - 1;
  const auto matrixAt = [&](const char* key) {
    ConfusionMatrix matrix(last + 1, -1);
    for (const JsonValue& pair : json.at(key).list()) {
      const auto counts = pair.list(3, 3);
      pair.named([&] { matrix.add(counts[0].integer(0, last), counts[1].integer(0, last), counts[2].count()); });
    }
    return matrix;
  };
  const ConfusionMatrix matrix = matrixAt("confusion");
  one.counts = matrix.pairs();
  one.near = matrixAt("confusion_near").pairs();
  for (const auto& [key, score] : kScores) {
    if (json.at(key).json() != percentJson((matrix.*score)()))
      throw Error(json.at(key).place() + " is not what its counts give: remove that line, and its image is done again");
  }
  return one;
}

void Scores::add(const Measurement& one) {
  if (images_ > 0 && one.tokens.size() != tokens_.size()) {
    throw Error("the tokens are of " + std::to_string(one.tokens.size()) + " steps, those before of " +
                std::to_string(tokens_.size()));
  }
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
          {"ms_mean", images_ > 0 ? evaluation::toJson(ms_) : Json(nullptr)},
          {"confusion", evaluation::toJson(matrix_)}};
}

void VariantResult::add(const Measurement& one) {
  labelled = labelled || one.line.contains("confusion");
  beside_full = beside_full || one.full_ms;
  sessions.insert(one.session);
  all.add(one);
  if (one.night) (*one.night ? night : day).add(one);
  images_.push_back(one);
  images_.back().line = nullptr;
  if (one.rows) rows_.add(*one.rows);
  if (one.due_agreement) due_agreement_.add(*one.due_agreement);
  key_frames_ += one.key_frame;
  if (!one.full_ms) return;
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

std::vector<const Measurement*> VariantResult::sorted() const {
  std::vector<const Measurement*> images;
  for (const Measurement& one : images_) images.push_back(&one);
  sortByFilm(images);
  return images;
}

AgainstFull VariantResult::against(const VariantResult* full, bool labels_of_full) const {
  AgainstFull result;
  const std::vector<const Measurement*> own = sorted();
  if (own.empty()) return result;
  const BlockBootstrap bootstrap = bootstrapOf(own);
  std::vector<double> agreement, speed_up;
  for (const Measurement* one : own) {
    result.images += one->full_ms.has_value();
    agreement.push_back(one->agreement.value_or(std::nan("")));
    speed_up.push_back(one->full_ms.value_or(std::nan("")) / one->ms.total);
  }
  result.agreement = bootstrap.percentInterval(bootstrap.means(agreement));
  result.speed_up = bootstrap.ratioInterval(bootstrap.medians(speed_up));
  if (!labelled) return result;
  const int classes = all.matrix().classes();
  const std::vector<double> mine = iouDraws(bootstrap, own, classes).mean;
  if (labels_of_full) {
    // Nothing is nearer to the full model's labels than they are themselves, so a loss of them is at least 0.
    result.loss = bootstrap.percentInterval(difference(std::vector<double>(mine.size(), 100), mine));
    return result;
  }
  if (!full || images_.size() != full->images_.size()) return result;
  std::map<std::string, const Measurement*> of_image;  // lines of --resume may be in another order
  for (const Measurement& one : full->images_) of_image[one.image] = &one;
  std::vector<const Measurement*> others;
  for (const Measurement* one : own)
    if (const auto found = of_image.find(one->image); found != of_image.end()) others.push_back(found->second);
  if (others.size() != own.size()) return result;
  result.loss = bootstrap.interval(difference(iouDraws(bootstrap, others, classes).mean, mine));
  return result;
}

Json VariantResult::reuseJson() const {
  if (rows_.values.empty()) return nullptr;
  return {{"rows", rows_.mean()},
          {"key_frames", key_frames_},
          {"agreement", orNull(due_agreement_.mean())},
          {"share_of_full_ms", orNull(ms_ / full_ms_)}};
}

Json VariantResult::minus(const VariantResult& other) const {
  std::map<std::string, const Measurement*> of_image;  // lines of --resume may be in another order
  for (const Measurement& one : other.images_) of_image[one.image] = &one;
  std::vector<const Measurement*> mine, others;
  for (const Measurement* one : sorted()) {
    if (const auto found = of_image.find(one->image); found != of_image.end() && !one->night.value_or(false)) {
      mine.push_back(one);
      others.push_back(found->second);
    }
  }
  const BlockBootstrap bootstrap = bootstrapOf(mine);
  Json json = {
      {"images", mine.size()}, {"blocks", bootstrap.blocks()}, {"tokens", Json::array()}, {"merged_percent", nullptr}};
  if (mine.empty()) return json;
  for (std::size_t step = 0; step < mine[0]->tokens.size(); ++step) {
    std::vector<double> more;
    for (std::size_t i = 0; i < mine.size(); ++i) more.push_back(mine[i]->tokens[step] - others[i]->tokens[step]);
    json["tokens"].push_back(meanJson(bootstrap.interval(bootstrap.means(more))));
  }
  // Tokens merged away by all steps, as a ratio of means.
  const auto mergedIn = [&](const std::vector<const Measurement*>& images) {
    std::vector<double> merged;
    for (const Measurement* one : images) merged.push_back(one->tokens.front() - one->tokens.back());
    return bootstrap.means(merged);
  };
  std::vector<double> percent = mergedIn(mine);
  const std::vector<double> by_day = mergedIn(others);
  for (std::size_t i = 0; i < percent.size(); ++i)
    percent[i] = by_day[i] > 0 ? 100 * (percent[i] / by_day[i] - 1) : std::nan("");  // nothing is merged by day
  json["merged_percent"] = meanJson(bootstrap.interval(percent));
  return json;
}

void sortByFilm(std::vector<const Measurement*>& images) {
  std::ranges::stable_sort(
      images, {}, [](const Measurement* one) { return std::tie(one->film, one->index, one->name, one->image); });
}

BlockBootstrap bootstrapOf(const std::vector<const Measurement*>& images) {
  std::vector<std::string> films;
  for (const Measurement* one : images) films.push_back(one->film);
  return BlockBootstrap(blocksOf(films));
}

IouDraws iouDraws(const BlockBootstrap& bootstrap, const std::vector<const Measurement*>& images, int classes,
                  Pixels pixels) {
  // Of each class that is there.
  std::vector<std::map<int, ClassPixels>> blocks(static_cast<std::size_t>(bootstrap.blocks()));
  for (std::size_t i = 0; i < images.size(); ++i) {
    auto& block = blocks[static_cast<std::size_t>(bootstrap.blockOfImage()[i])];
    const auto count = [&](const PairCounts& pairs, double sign) {
      for (const auto& [truth, given, number] : pairs) {
        const double counted = sign * static_cast<double>(number);
        block[static_cast<int>(truth)].truth += counted;
        block[static_cast<int>(given)].given += counted;
        if (truth == given) block[static_cast<int>(truth)].right += counted;
      }
    };
    count(pixels == Pixels::kNear ? images[i]->near : images[i]->counts, 1);
    if (pixels == Pixels::kElsewhere) count(images[i]->near, -1);
  }
  const auto size = static_cast<std::size_t>(classes);
  IouDraws result{std::vector<std::vector<double>>(size), {}, {}};
  result.mean = bootstrap.draws([&](const std::vector<int>& times) {
    std::vector<ClassPixels> sums(size);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      for (const auto& [label, counts] : blocks[b]) {
        ClassPixels& sum = sums[static_cast<std::size_t>(label)];
        sum.right += times[b] * counts.right;
        sum.truth += times[b] * counts.truth;
        sum.given += times[b] * counts.given;
      }
    }
    for (std::size_t c = 0; c < size; ++c)
      result.of_class[c].push_back(sums[c].truth > 0 ? 100 * iouOf(sums[c]) : std::nan(""));
    result.pixel_accuracy.push_back(100 * pixelAccuracy(sums));
    return 100 * meanIou(sums);
  });
  return result;
}

std::vector<double> difference(std::vector<double> a, const std::vector<double>& b) {
  std::ranges::transform(a, b, a.begin(), std::minus());
  return a;
}

void addInterval(Json& json, const std::string& name, const Interval& interval) {
  json[name] = rounded(interval.value);
  json[name + "_low"] = rounded(interval.low);
  json[name + "_high"] = rounded(interval.high);
}

}  // namespace mpm::evaluation
