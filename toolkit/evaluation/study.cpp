// SPDX-License-Identifier: Apache-2.0
#include "evaluation/study.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/quantiles.h"
#include "evaluation/numbers.h"
#include "evaluation/statistics.h"
#include "mpm/error.hpp"
#include "mpm/options.hpp"
#include "vision/draws.h"
#include "vision/sources/source_spec.h"

namespace mpm::evaluation {
namespace {

/// What all variants of a group have in common.
constexpr const char* kGroup[] = {
    "model_digest",  "full_precision", "data",   "dataset",      "labels",          "input",   "fit",
    "window_stride", "short_side",     "ignore", "label_offset", "simulated_night", "against", "refine"};

// "" for the precision of the full model of the group, else for example " int8".
std::string precisionIn(const Json& line) {
  const std::string precision = textOf(line, "precision");
  return precision == textOf(line, "full_precision") ? "" : " " + precision;
}

std::string nameOf(const Json& line) {
  const std::string reuse = textOf(line, "reuse_spec");
  return textOf(line, "reduce") + precisionIn(line) + (reuse.empty() || reuse == "off" ? "" : " reuse " + reuse);
}

// The method of reduction, with another precision than that of the full model: a curve of the figures.
std::string methodOf(const Json& line) {
  const std::string reduce = textOf(line, "reduce");
  return reduce.substr(0, reduce.find(':')) + precisionIn(line);
}

/// One variant in the order of the images of its group.
struct Variant {
  std::string name;
  std::vector<const Measurement*> images;
  Json row{};  // of the summary
  // Draw by draw, for the differences of two variants.
  std::vector<double> miou{}, tokens{};

  const Json& line() const { return images.front()->line; }
  std::vector<double> each(const std::function<double(const Measurement&)>& number) const {
    std::vector<double> numbers;
    for (const Measurement* one : images) numbers.push_back(number(*one));
    return numbers;
  }
  std::vector<double> eachOr(std::optional<double> Measurement::*number) const {
    return each([number](const Measurement& one) { return (one.*number).value_or(std::nan("")); });
  }
};

double meanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// GFLOP of padded batches, and of those that merge equally, in percent of ragged ones: of 1, 2, 4.. images, which are
/// drawn 200 times.
void addBatches(Variant& variant) {
  Json padded = Json::array(), minimum = Json::array();
  if (const std::vector<FlopCounter::Terms>& terms = variant.images.front()->gflop_terms; !terms.empty()) {
    const auto gflop = [&terms](const std::vector<double>& tokens) {
      double sum = 0;
      for (std::size_t step = 0; step < std::min(terms.size(), tokens.size()); ++step)
        sum += terms[step][0] + (terms[step][1] + terms[step][2] * tokens[step]) * tokens[step];
      return sum;
    };
    const std::size_t count = variant.images.size(), steps = variant.images.front()->tokens.size();
    Draws draws(count);
    for (std::size_t size = 1; size <= std::min<std::size_t>(32, count); size *= 2) {
      double ragged_sum = 0, padded_sum = 0, minimum_sum = 0;
      for (int batch = 0; batch < 200; ++batch) {
        std::vector<std::size_t> order(count);
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (std::size_t i = 0; i < size; ++i)
          std::swap(order[i], order[i + static_cast<std::size_t>(draws.integer(static_cast<int>(count - i)))]);
        std::vector<double> most(steps), least(steps);
        for (std::size_t step = 0; step < steps; ++step) {
          double merged = std::numeric_limits<double>::infinity();
          for (std::size_t i = 0; i < size; ++i) {
            const std::vector<double>& tokens = variant.images[order[i]]->tokens;
            most[step] = std::max(most[step], tokens[step]);
            if (step > 0) merged = std::min(merged, tokens[step - 1] - tokens[step]);
          }
          least[step] = step == 0 ? most[0] : least[step - 1] - merged;
        }
        for (std::size_t i = 0; i < size; ++i)
          ragged_sum += gflop(variant.images[order[i]]->tokens) / static_cast<double>(size);
        padded_sum += gflop(most);
        minimum_sum += gflop(least);
      }
      padded.push_back(rounded(100 * padded_sum / ragged_sum));
      minimum.push_back(rounded(100 * minimum_sum / ragged_sum));
    }
  }
  variant.row["padded_percent"] = padded;
  variant.row["minimum_percent"] = minimum;
}

class Group {
 public:
  /// `variants`: the full model first.
  Group(std::string name, std::vector<Variant> variants, bool sweep)
      : name_(std::move(name)),
        variants_(std::move(variants)),
        bootstrap_(bootstrapOf(full().images)),
        labels_of_full_(textOf(full().line(), "against") == "full"),
        classes_(static_cast<int>(full().line().at("classes").size())) {
    std::map<std::string, int> images_of_session;
    for (const Measurement* one : full().images) ++images_of_session[one->session];
    session_ = std::ranges::max_element(images_of_session, {}, [](const auto& one) { return one.second; })->first;
    for (const Pixels pixels : {Pixels::kAll, Pixels::kNear, Pixels::kElsewhere})
      full_iou_.push_back(iouDraws(bootstrap_, full().images, classes_, pixels));
    for (Variant& variant : variants_) summarise(variant, sweep);
    addFronts();
    addTokenHistograms();
    if (!sweep) addEqualTokens();
  }

  void addTo(StudyNumbers& numbers, bool sweep) const {
    for (const Variant& variant : variants_) numbers.rows.push_back(variant.row);
    for (std::size_t i = 0; !sweep && i < variants_.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) numbers.pairs.push_back(pair(variants_[i], variants_[j]));
  }

 private:
  const Variant& full() const { return variants_.front(); }

  Interval intervalOf(const std::string& name, const std::vector<double>& draws) const {
    const bool ends_at_0 = labels_of_full_ && name.find("_loss_") != std::string::npos;
    if (ends_at_0 || name.ends_with("_percent")) return bootstrap_.percentInterval(draws);
    const bool is_time = name.ends_with("_ms") && draws.front() > 0;  // of a stage that did not run it is 0
    return name == "speed_up" || is_time ? bootstrap_.ratioInterval(draws) : bootstrap_.interval(draws);
  }

  void add(Variant& variant, const char* name, const std::vector<double>& draws) const {
    addInterval(variant.row, name, intervalOf(name, draws));
  }

  // Of each class.
  void addList(Variant& variant, const std::string& name, const std::vector<std::vector<double>>& draws) const {
    for (const std::vector<double>& of_class : draws) {
      Json one;
      addInterval(one, name, intervalOf(name, of_class));
      for (const auto& [key, value] : one.items()) variant.row[key].push_back(value);
    }
  }

  void summarise(Variant& variant, bool sweep) {
    const Json& line = variant.line();
    Json& row = variant.row;
    row = {{"group", name_}, {"model", std::filesystem::path(textOf(line, "model")).stem().string()}};
    for (const char* key : {"net", "data", "dataset", "precision", "reduce", "reuse_spec", "simulated_night"})
      row[key] = line.value(key, Json());
    row.update({{"name", variant.name},
                {"method", methodOf(line)},
                {"sweep", sweep},
                {"images", variant.images.size()},
                {"blocks", bootstrap_.blocks()},
                {"session", session_}});
    const IouDraws all = iouDraws(bootstrap_, variant.images, classes_);
    variant.miou = all.mean;
    add(variant, "miou_percent", all.mean);
    add(variant, "miou_loss_points", difference(full_iou_[0].mean, all.mean));
    for (const auto& [key, pixels, full] : {std::tuple("miou_loss_near_points", Pixels::kNear, 1),
                                            {"miou_loss_elsewhere_points", Pixels::kElsewhere, 2}}) {
      add(variant, key,
          difference(full_iou_[static_cast<std::size_t>(full)].mean,
                     iouDraws(bootstrap_, variant.images, classes_, pixels).mean));
    }
    add(variant, "pixel_accuracy_percent", all.pixel_accuracy);
    add(variant, "agreement_percent", bootstrap_.means(variant.eachOr(&Measurement::agreement)));
    add(variant, "speed_up", bootstrap_.medians(variant.each([](const Measurement& one) {
      return one.full_ms.value_or(std::nan("")) / one.ms.total;
    })));
    // Times of other sessions are not compared.
    const auto ofSession = [&](const std::function<double(const Measurement&)>& ms) {
      return variant.each([&](const Measurement& one) { return one.session == session_ ? ms(one) : std::nan(""); });
    };
    std::vector<double> total = ofSession([](const Measurement& one) { return one.ms.total; });
    add(variant, "median_ms", bootstrap_.medians(total));
    std::erase_if(total, [](double ms) { return std::isnan(ms); });
    row["p25_ms"] = rounded(quantile(total, 0.25));
    row["p75_ms"] = rounded(quantile(total, 0.75));
    row["gflop"] = rounded(meanOf(variant.eachOr(&Measurement::gflop)));
    row["gflop_head_restored"] = rounded(meanOf(variant.eachOr(&Measurement::gflop_head_restored)));
    const std::vector<double> tokens = variant.each([](const Measurement& one) { return one.tokens.back(); });
    variant.tokens = bootstrap_.means(tokens);
    add(variant, "tokens_end", variant.tokens);
    for (const auto& [stage, member] : kStages) {
      if (stage != std::string("total")) {
        add(variant, (stage + std::string("_ms")).c_str(),
            bootstrap_.means(ofSession([&, member = member](const Measurement& one) { return one.ms.*member; })));
      }
    }
    addPairsOfTokens(variant);
    Json true_pixels = Json::array();
    std::vector<double> pixels_of_class(static_cast<std::size_t>(classes_));
    for (const Measurement* one : variant.images) {
      for (const auto& [truth, given, pixels] : one->counts)
        pixels_of_class[static_cast<std::size_t>(truth)] += static_cast<double>(pixels);
    }
    for (const double pixels : pixels_of_class) true_pixels.push_back(static_cast<std::int64_t>(pixels));
    row.update({{"true_pixels", true_pixels}, {"classes", line.at("classes")}, {"tokens", tokens}});
    addList(variant, "iou_percent", all.of_class);
    std::vector<std::vector<double>> loss = full_iou_[0].of_class;
    for (std::size_t c = 0; c < loss.size(); ++c) loss[c] = difference(loss[c], all.of_class[c]);
    addList(variant, "iou_loss_points", loss);
    addBlocks(variant);
    addBatches(variant);
  }

  static void addPairsOfTokens(Variant& variant) {
    std::vector<std::int64_t> distances;
    std::int64_t with_class = 0, of_one_class = 0;
    for (const Measurement* one : variant.images) {
      distances.resize(std::max(distances.size(), one->pairs_at_distance.size()));
      for (std::size_t d = 0; d < one->pairs_at_distance.size(); ++d) distances[d] += one->pairs_at_distance[d];
      with_class += one->pairs_with_class;
      of_one_class += one->pairs_of_one_class;
    }
    variant.row["one_class_share"] = rounded(static_cast<double>(of_one_class) / static_cast<double>(with_class));
    variant.row["pairs_at_distance"] = distances;
    Json& shares = variant.row["pairs_share_percent"] =
        Json::array();  // from distance 1 on: two tokens are never at one place
    const auto pairs = static_cast<double>(std::accumulate(distances.begin(), distances.end(), std::int64_t{0}));
    for (std::size_t d = 1; pairs > 0 && d < distances.size(); ++d)
      shares.push_back(100.0 * static_cast<double>(distances[d]) / pairs);
  }

  // Mean time of each block of the net.
  void addBlocks(Variant& variant) const {
    std::vector<double> sums;
    int images = 0;
    for (const Measurement* one : variant.images) {
      if (one->session != session_) continue;
      ++images;
      sums.resize(std::max(sums.size(), one->ms.blocks.size()));
      for (std::size_t block = 0; block < one->ms.blocks.size(); ++block) sums[block] += one->ms.blocks[block];
    }
    variant.row["blocks_ms"] = Json::array();
    for (const double sum : sums) variant.row["blocks_ms"].push_back(rounded(sum / images));
  }

  // How the images spread over the tokens that are left, in the same bins for all variants that merge.
  void addTokenHistograms() {
    constexpr std::size_t kBins = 24;
    double least = std::numeric_limits<double>::infinity(), most = 0;
    const auto atTheEnd = [](const Variant& variant) {
      return variant.each([](const Measurement& one) { return one.tokens.back(); });
    };
    for (const Variant& variant : variants_) {
      if (&variant == &full()) continue;
      const std::vector<double> tokens = atTheEnd(variant);
      least = std::min(least, std::ranges::min(tokens));
      most = std::max(most, std::ranges::max(tokens));
    }
    most = std::max(most, least + 1);
    std::vector<double> edges(kBins + 1, most);
    for (std::size_t i = 0; i < kBins; ++i) edges[i] = least + static_cast<double>(i) * ((most - least) / kBins);
    for (Variant& variant : variants_) {
      Json& row = variant.row;
      row["tokens_edges"] = row["tokens_share_percent"] = Json::array();
      if (&variant == &full()) continue;
      std::vector<int> images(kBins);
      for (const double tokens : atTheEnd(variant)) {
        const auto above = std::ranges::upper_bound(edges, tokens) - edges.begin();
        ++images[std::min(static_cast<std::size_t>(above), kBins) - 1];  // the last bin has its upper edge, too
      }
      row["tokens_edges"] = edges;
      for (const int count : images)
        row["tokens_share_percent"].push_back(100.0 * count / static_cast<double>(variant.images.size()));
    }
  }

  void addFronts() {
    const auto number = [](const Json& value) { return value.is_null() ? std::nan("") : value.get<double>(); };
    const std::pair<const char*, std::function<double(const Json&)>> costs[] = {
        {"front_of_time", [&](const Json& row) { return -number(row["speed_up"]); }},
        {"front_of_rate", [&](const Json& row) { return number(row["median_ms"]); }},
        {"front_of_gflop", [&](const Json& row) { return number(row["gflop"]); }},
        {"front_of_gflop_head_restored", [&](const Json& row) { return number(row["gflop_head_restored"]); }},
        {"front_of_tokens", [&](const Json& row) { return number(row["tokens_end"]); }}};
    for (const auto& [name, cost] : costs) {
      std::vector<TradePoint> points;
      for (const Variant& variant : variants_)
        points.push_back({cost(variant.row), number(variant.row["miou_percent"])});
      const std::vector<bool> front = paretoFront(points);
      for (std::size_t i = 0; i < front.size(); ++i) variants_[i].row[name] = static_cast<bool>(front[i]);
    }
  }

  /// What the other methods have at the tokens of a variant, in its precision: linear between the two of their variants
  /// (or the full model) that leave next to as many, draw by draw.
  void addEqualTokens() {
    const auto isFull = [](const Variant& one) { return textOf(one.line(), "reduce") == toString(kFullModel); };
    std::map<std::string, std::map<std::string, std::vector<const Variant*>>> of_precision;  // of each method
    for (const Variant& variant : variants_)
      if (!isFull(variant)) of_precision[precisionIn(variant.line())][methodOf(variant.line())].push_back(&variant);
    for (Variant& variant : variants_) {
      Json& list = variant.row["at_equal_tokens"] = Json::array();
      if (isFull(variant)) continue;
      const std::string precision = precisionIn(variant.line());
      const auto own_full = std::ranges::find(variants_, toString(kFullModel) + precision, &Variant::name);
      for (auto [method, curve] : of_precision[precision]) {
        if (method == methodOf(variant.line())) continue;
        if (own_full != variants_.end()) curve.push_back(&*own_full);
        const double wanted = variant.tokens.front();
        constexpr double kEqual = 0.5;  // tokens: a count is not always reached in every image
        const Variant *below = nullptr, *above = nullptr;
        for (const Variant* one : curve) {
          const double tokens = one->tokens.front();
          if (tokens <= wanted + kEqual && (!below || tokens > below->tokens.front())) below = one;
          if (tokens >= wanted - kEqual && (!above || tokens < above->tokens.front())) above = one;
        }
        if (!below || !above) continue;
        std::vector<double> gain;
        for (std::size_t d = 0; d < variant.miou.size(); ++d) {
          const double span = above->tokens[d] - below->tokens[d];
          const double share = span > 0 ? (variant.tokens[d] - below->tokens[d]) / span : 0;
          gain.push_back(variant.miou[d] - ((1 - share) * below->miou[d] + share * above->miou[d]));
        }
        Json one = {{"method", method}, {"below", below->name}, {"above", above->name}};
        addInterval(one, "miou_gain_points", bootstrap_.interval(gain));
        list.push_back(one);
      }
    }
  }

  Json pair(const Variant& own, const Variant& other) const {
    Json json = {{"group", name_}, {"name", own.name}, {"against", other.name}, {"images", own.images.size()}};
    addInterval(json, "miou_gain_points", bootstrap_.interval(difference(own.miou, other.miou)));
    addInterval(json, "tokens_more", bootstrap_.interval(difference(own.tokens, other.tokens)));
    std::vector<double> ratios;  // of the times by turns: of one session
    for (std::size_t i = 0; i < own.images.size(); ++i) {
      ratios.push_back(own.images[i]->session == other.images[i]->session
                           ? other.images[i]->ms.total / own.images[i]->ms.total
                           : std::nan(""));
    }
    addInterval(json, "speed_up", bootstrap_.ratioInterval(bootstrap_.medians(ratios)));
    return json;
  }

  std::string name_;
  std::vector<Variant> variants_;
  BlockBootstrap bootstrap_;
  bool labels_of_full_;  // so nothing is better than the full model
  int classes_;
  std::string session_;  // of most images
  std::vector<IouDraws> full_iou_;
};

/// Images of a variant by their names; a later line replaces an earlier one.
struct Lines {
  std::vector<std::string> order;  // of the variants
  std::map<std::string, std::map<std::string, const Measurement*>> of_variant;
};

std::optional<std::vector<Variant>> variantsOf(const Lines& lines) {
  const std::string full_name = toString(kFullModel);
  const auto full = lines.of_variant.find(full_name);
  if (full == lines.of_variant.end()) return std::nullopt;
  std::vector<const Measurement*> images;
  for (const auto& [name, one] : full->second) images.push_back(one);
  sortByFilm(images);
  std::vector<Variant> variants = {{full_name, images}};
  for (const std::string& name : lines.order) {
    const auto& own = lines.of_variant.at(name);
    if (name == full_name || own.size() != images.size()) continue;
    Variant variant{name, {}};
    for (const Measurement* one : images) {
      if (const auto found = own.find(textOf(one->line, "name")); found != own.end())
        variant.images.push_back(found->second);
    }
    if (variant.images.size() != images.size()) continue;
    for (const Measurement* one : variant.images) {
      if (one->tokens.size() != variant.images.front()->tokens.size())
        throw Error("the lines of '" + name + "' are of different numbers of merging steps");
    }
    variants.push_back(std::move(variant));
  }
  return variants;
}

/// A name that can be a part of a file name.
std::string groupName(const Json& line, std::set<std::string>& taken) {
  const std::string data = textOf(line, "data");
  const std::string dataset = textOf(line, "dataset");
  std::string name = std::filesystem::path(textOf(line, "model")).stem().string() + "_" +
                     (!dataset.empty()            ? dataset
                      : vision::isSceneName(data) ? "scene"
                                                  : std::filesystem::path(data).filename().string()) +
                     "_" + textOf(line, "full_precision");
  for (char& letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter)) && letter != '.' && letter != '-') letter = '_';
  name.erase(0, name.find_first_not_of('.'));
  name.resize(std::min<std::size_t>(name.size(), 100));
  const std::string stem = name;
  for (int k = 2; !taken.insert(name).second; ++k) name = stem + "_" + std::to_string(k);
  return name;
}

}  // namespace

StudyNumbers studyNumbers(const std::vector<Measurement>& results, const std::vector<Measurement>& sweep) {
  StudyNumbers numbers;
  std::map<std::string, std::string> name_of_group;
  std::set<std::string> taken;
  for (const std::vector<Measurement>* lines : {&results, &sweep}) {
    std::vector<std::string> order;
    std::map<std::string, Lines> groups;
    for (const Measurement& one : *lines) {
      if (!one.line.contains("miou_percent")) continue;
      Json key = Json::array();
      for (const char* name : kGroup) key.push_back(one.line.value(name, Json()));
      const auto [group, fresh] = groups.try_emplace(toLine(key));
      if (fresh) order.push_back(group->first);
      const std::string variant = nameOf(one.line);
      if (!group->second.of_variant.contains(variant)) group->second.order.push_back(variant);
      group->second.of_variant[variant][textOf(one.line, "name")] = &one;
    }
    for (const std::string& key : order) {
      std::optional<std::vector<Variant>> variants = variantsOf(groups.at(key));
      if (!variants) continue;
      std::string& name = name_of_group[key];
      if (name.empty()) name = groupName(variants->front().line(), taken);
      Group(name, std::move(*variants), lines == &sweep).addTo(numbers, lines == &sweep);
    }
  }
  return numbers;
}

}  // namespace mpm::evaluation
