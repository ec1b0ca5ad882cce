// SPDX-License-Identifier: Apache-2.0
#include "cli/study/summary.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>

#include "base/atomic_file.h"
#include "base/number_text.h"
#include "base/quantiles.h"
#include "evaluation/numbers.h"
#include "evaluation/statistics.h"
#include "program/paths.h"
#include "program/terminal/output.h"

namespace mpm::cli {

using namespace program;

namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 3> kEnds = {"", "_low", "_high"};  // of a number and its interval

double meanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Json rounded(double value) { return evaluation::orNull(std::round(value * 1e4) / 1e4 + 0.0); }  // + 0.0: never -0

Json rounded(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(rounded(value));
  return list;
}

/// What a row says about its labels, over all of its images and over samples of them.
struct Accuracy {
  enum Number : std::size_t {
    kAll,
    kNear,
    kElsewhere,
    kAgreement,
    kPixels,
    kClasses
  };  // percent; from kClasses on IoU

  std::vector<double> numbers;
  std::vector<std::vector<double>> draws;  // bootstrap()

  explicit Accuracy(const StudyRow& row) {
    const auto over = [&](const std::vector<int>& pictures) {
      const evaluation::ConfusionMatrix empty(static_cast<int>(row.classes.size()), -1);
      evaluation::ConfusionMatrix near = empty, elsewhere = empty, all = empty;
      double agreement = 0;
      for (const int picture : pictures) {
        const auto i = static_cast<std::size_t>(picture);
        near.add(row.near[i]);
        elsewhere.add(row.elsewhere[i]);
        agreement += row.agreement[i] / static_cast<double>(pictures.size());
      }
      for (const evaluation::ConfusionMatrix* part : {&near, &elsewhere}) all.add(part->pairs());
      std::vector<double> values = {100 * all.meanIou(), 100 * near.meanIou(), 100 * elsewhere.meanIou(), agreement,
                                    100 * all.pixelAccuracy()};
      const std::vector<double> iou = all.iou();
      for (int c = 0; c < all.classes(); ++c)
        values.push_back(all.hasTruth(c) ? 100 * iou[static_cast<std::size_t>(c)] : std::nan(""));
      return values;
    };
    draws = evaluation::bootstrap(row.images(), over);
    std::vector<int> every(static_cast<std::size_t>(row.images()));
    std::iota(every.begin(), every.end(), 0);
    numbers = over(every);
  }

  /// The draws of a number, or of what is lost of it: {value, low, high}.
  std::array<double, 3> withInterval(std::size_t number, const Accuracy* full = nullptr) const {
    const auto lost = [&](double value, double full_value) { return full ? full_value - value : value; };
    std::vector<double> values = draws.empty() ? std::vector<double>() : draws[number];
    for (std::size_t i = 0; full && i < values.size(); ++i) values[i] = lost(values[i], full->draws[number][i]);
    const auto [low, high] = evaluation::interval(values);
    return {lost(numbers[number], full ? full->numbers[number] : 0), low, high};
  }
};

/// GFLOP in percent of ragged batches, for each of kBatchSizes of which there were batches.
std::vector<double> batchPercent(const StudyRow& row, const std::vector<double>& costs) {
  std::vector<double> percent;
  for (std::size_t i = 0; i < row.batches.size() && row.batches[i] > 0; ++i)
    percent.push_back(100 * costs[i] / row.ragged[i]);
  return percent;
}

Json summaryOf(const std::string& group, const StudyRow& row, const Accuracy& own, const Accuracy& full) {
  std::vector<double> ratios, blocks = row.blocks;
  for (std::size_t i = 0; i < row.ms.size(); ++i) ratios.push_back(row.full_ms[i] / row.ms[i]);
  for (double& ms : blocks) ms /= row.images();
  Json json = {{"group", group},           {"model", row.model},    {"net", row.net},     {"data", row.data},
               {"source", row.source},     {"limit", row.limit},    {"sweep", row.sweep}, {"precision", row.precision},
               {"reduction", row.variant}, {"images", row.images()}};
  const auto add = [&](const std::string& name, double value) { json[name] = rounded(value); };
  const auto addWithInterval = [&](const std::string& name, const std::array<double, 3>& value) {
    for (std::size_t i = 0; i < value.size(); ++i) add(name + kEnds[i], value[i]);
  };
  addWithInterval("miou", own.withInterval(Accuracy::kAll));
  addWithInterval("miou_loss", own.withInterval(Accuracy::kAll, &full));
  addWithInterval("miou_loss_near", own.withInterval(Accuracy::kNear, &full));
  addWithInterval("miou_loss_elsewhere", own.withInterval(Accuracy::kElsewhere, &full));
  addWithInterval("pixel_accuracy", own.withInterval(Accuracy::kPixels));
  addWithInterval("agreement", own.withInterval(Accuracy::kAgreement));
  add("ms_median", quantile(row.ms, 0.5));
  add("ms_p25", quantile(row.ms, 0.25));
  add("ms_p75", quantile(row.ms, 0.75));
  add("speed_up", quantile(ratios, 0.5));
  add("gflop", meanOf(row.gflop));
  add("tokens_end", meanOf(row.tokens));
  for (std::size_t i = 1; i < std::size(evaluation::kStages); ++i)  // 0 is the total
    add(evaluation::kStages[i].first + std::string("_ms"), row.stages[i] / row.images());
  add("pairs_of_one_class", static_cast<double>(row.pairs[1]) / static_cast<double>(row.pairs[0]));
  json["classes"] = row.classes;
  for (const auto& [name, reference] : {std::pair<std::string, const Accuracy*>("iou", nullptr), {"iou_loss", &full}})
    for (std::size_t c = 0; c < row.classes.size(); ++c) {
      const std::array<double, 3> value = own.withInterval(Accuracy::kClasses + c, reference);
      for (std::size_t i = 0; i < value.size(); ++i) json[name + kEnds[i]].push_back(rounded(value[i]));
    }
  json["tokens"] = row.tokens;
  json["distances"] = row.distances;
  json["block_ms"] = rounded(blocks);
  json["padded_percent"] = rounded(batchPercent(row, row.padded));
  json["minimum_percent"] = rounded(batchPercent(row, row.minimum));
  return json;
}

/// Of one model on one data set at one precision: `rows` begin with the full model.
void addGroup(const std::string& name, const std::vector<const StudyRow*>& rows, std::vector<Json>& summaries) {
  const Accuracy full(*rows.front());
  std::vector<evaluation::TradePoint> times, flops;
  for (const StudyRow* row : rows) {
    summaries.push_back(summaryOf(name, *row, row == rows.front() ? full : Accuracy(*row), full));
    const Json& json = summaries.back();
    const double miou = json["miou"].is_null() ? std::nan("") : json["miou"].get<double>();
    times.push_back({-json["speed_up"].get<double>(), miou});
    flops.push_back({json["gflop"].get<double>(), miou});
  }
  const std::vector<bool> time_front = evaluation::paretoFront(times), flop_front = evaluation::paretoFront(flops);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Json& json = summaries[summaries.size() - rows.size() + i];
    json["front_of_time"] = static_cast<bool>(time_front[i]);
    json["front_of_gflop"] = static_cast<bool>(flop_front[i]);
  }
}

std::vector<Json> summariesOf(const std::vector<StudyRow>& rows) {
  const std::string none = toString(kFullModel);
  std::vector<Json> summaries;
  std::set<std::vector<std::string>> seen;
  UniqueNames unique;
  for (const StudyRow& row : rows) {
    if (row.sweep || !seen.insert({row.digest, row.source, std::to_string(row.limit), row.precision}).second) continue;
    const std::string name = unique(fileName(row.model + "_" + row.data + "_" + row.precision));
    for (const bool sweep : {false, true}) {
      std::vector<const StudyRow*> own;
      const StudyRow* full = nullptr;
      for (const StudyRow& other : rows) {
        if (other.digest != row.digest || other.source != row.source || other.precision != row.precision ||
            other.sweep != sweep || (!sweep && other.limit != row.limit))
          continue;
        (other.variant == none ? full : own.emplace_back()) = &other;
      }
      if (!full) continue;
      // Another number of images: a study that is not finished.
      std::erase_if(own, [&](const StudyRow* one) { return one->images() != full->images(); });
      own.insert(own.begin(), full);
      addGroup(name, own, summaries);
    }
  }
  return summaries;
}

std::string csvCell(const Json& value) {
  if (value.is_null()) return {};
  if (!value.is_string()) return value.dump();
  std::string text = "\"";
  for (const char c : value.get<std::string>()) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

void printTable(const std::vector<Json>& summaries) {
  const std::vector<const char*> texts = {"model", "data", "precision", "reduction"};
  const std::vector<std::pair<const char*, int>> numbers = {
      {"miou", 2}, {"miou_loss", 2}, {"ms_median", 1}, {"speed_up", 2}, {"tokens_end", 1}};
  std::vector<std::vector<std::string>> table = {
      {"model", "data", "precision", "reduction", "mIoU %", "loss", "ms", "speed-up", "tokens"}};
  std::vector<int> widths = {0, 0, 0, 0, 9, 9, 9, 9, 9};
  for (const Json& summary : summaries) {
    if (summary["sweep"].get<bool>()) continue;
    std::vector<std::string>& cells = table.emplace_back();
    for (const char* text : texts) cells.push_back(summary[text].get<std::string>());
    for (const auto& [name, digits] : numbers)
      cells.push_back(summary[name].is_null() ? "-" : fixed(summary[name].get<double>(), digits));
  }
  for (const std::vector<std::string>& cells : table)
    for (std::size_t i = 0; i < texts.size(); ++i)
      widths[i] = std::min(widths[i], -static_cast<int>(cells[i].size()) - 2);
  for (const std::vector<std::string>& cells : table) printLine(tableRow(cells, widths));
}

}  // namespace

void writeSummary(const std::vector<StudyRow>& rows, const std::string& folder) {
  std::string csv, lines;
  const std::vector<Json> summaries = summariesOf(rows);
  for (const Json& summary : summaries) {
    std::string names, cells;
    for (const auto& [name, value] : summary.items()) {
      if (value.is_array()) continue;
      names += (names.empty() ? "" : ",") + name;
      cells += (cells.empty() ? "" : ",") + csvCell(value);
    }
    if (csv.empty()) csv = names + '\n';
    csv += cells + '\n';
    lines += toLine(summary) + '\n';
  }
  writeFileAtomically((fs::path(folder) / "results.csv").string(), csv);
  writeFileAtomically((fs::path(folder) / "summary.jsonl").string(), lines);
  printTable(summaries);
}

}  // namespace mpm::cli
