// SPDX-License-Identifier: Apache-2.0
#include "cli/study/summary.h"

#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>

#include "base/atomic_file.h"
#include "base/quantiles.h"
#include "evaluation/bootstrap.h"
#include "evaluation/numbers.h"
#include "evaluation/pareto.h"
#include "program/paths.h"
#include "program/terminal/output.h"

namespace mpm::cli {
namespace {

namespace fs = std::filesystem;

double meanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Json rounded(double value) { return orNull(std::round(value * 1e4) / 1e4 + 0.0); }  // + 0.0: never -0

Json rounded(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(rounded(value));
  return list;
}

/// What a row says about its labels.
struct Accuracy {
  vision::ConfusionMatrix near, elsewhere, all;
  std::vector<double> draws;  // of the bootstrap: mIoU, percent

  explicit Accuracy(const StudyRow& row) : near(matrixOf(row)), elsewhere(near), all(near) {
    const auto over = [&row](const std::vector<int>& pictures) {
      vision::ConfusionMatrix matrix = matrixOf(row);
      for (const int picture : pictures)
        for (const auto counts : {&StudyRow::near, &StudyRow::elsewhere})
          matrix.add((row.*counts)[static_cast<std::size_t>(picture)]);
      return 100 * matrix.meanIou();
    };
    draws = bootstrap(row.images(), over);
    for (const PairCounts& counts : row.near) near.add(counts);
    for (const PairCounts& counts : row.elsewhere) elsewhere.add(counts);
    for (const vision::ConfusionMatrix* part : {&near, &elsewhere}) all.add(part->pairs());
  }

  static vision::ConfusionMatrix matrixOf(const StudyRow& row) { return {static_cast<int>(row.classes.size()), -1}; }
};

/// Percent of each class with true pixels.
std::vector<double> iouOf(const vision::ConfusionMatrix& matrix) {
  std::vector<double> values = matrix.iou();
  for (int c = 0; c < matrix.classes(); ++c)
    values[static_cast<std::size_t>(c)] *= matrix.hasTruth(c) ? 100 : std::nan("");
  return values;
}

/// GFLOP in percent of ragged batches, for each of kBatchSizes of which there were batches.
std::vector<double> batchPercent(const BatchCosts& costs, std::vector<double> BatchCosts::*way) {
  std::vector<double> percent;
  for (std::size_t i = 0; i < costs.batches.size() && costs.batches[i] > 0; ++i)
    percent.push_back(100 * (costs.*way)[i] / costs.ragged[i]);
  return percent;
}

Json summaryOf(const std::string& group, const StudyRow& row, const Accuracy& own, const Accuracy& full) {
  std::vector<double> ratios, losses, blocks = row.stages.blocks;
  for (std::size_t i = 0; i < row.ms.size(); ++i) ratios.push_back(row.full_ms[i] / row.ms[i]);
  for (std::size_t i = 0; i < own.draws.size(); ++i) losses.push_back(full.draws[i] - own.draws[i]);
  for (double& ms : blocks) ms /= row.images();
  const std::vector<double> agreements = bootstrap(row.images(), [&](const std::vector<int>& pictures) {
    double sum = 0;
    for (const int picture : pictures) sum += row.agreement[static_cast<std::size_t>(picture)];
    return sum / row.images();
  });
  Json json = {{"group", group},           {"model", row.model},    {"net", row.net},     {"data", row.data},
               {"source", row.source},     {"limit", row.limit},    {"sweep", row.sweep}, {"precision", row.precision},
               {"reduction", row.variant}, {"images", row.images()}};
  const auto add = [&](const std::string& name, double value) { json[name] = rounded(value); };
  const auto addWithInterval = [&](const std::string& name, double value, const std::vector<double>& draws) {
    add(name, value);
    add(name + "_low", quantile(draws, 0.025));
    add(name + "_high", quantile(draws, 0.975));
  };
  const auto loss = [&](const vision::ConfusionMatrix Accuracy::*part) {
    return 100 * ((full.*part).meanIou() - (own.*part).meanIou());
  };
  addWithInterval("miou", 100 * own.all.meanIou(), own.draws);
  addWithInterval("miou_loss", loss(&Accuracy::all), losses);
  add("miou_loss_near", loss(&Accuracy::near));
  add("miou_loss_elsewhere", loss(&Accuracy::elsewhere));
  add("pixel_accuracy", 100 * own.all.pixelAccuracy());
  addWithInterval("agreement", meanOf(row.agreement), agreements);
  add("ms_median", quantile(row.ms, 0.5));
  add("ms_p25", quantile(row.ms, 0.25));
  add("ms_p75", quantile(row.ms, 0.75));
  add("speed_up", quantile(ratios, 0.5));
  add("gflop", meanOf(row.gflop));
  add("tokens_end", meanOf(row.tokens));
  for (const auto& [name, stage] : kStages)
    if (stage != &StageTimes::total) add(name + std::string("_ms"), row.stages.*stage / row.images());
  add("pairs_of_one_class",
      row.pairs > 0 ? static_cast<double>(row.pairs_of_one_class) / static_cast<double>(row.pairs) : std::nan(""));
  json["classes"] = row.classes;
  json["iou"] = rounded(iouOf(own.all));
  json["tokens"] = row.tokens;
  json["distances"] = row.distances;
  json["block_ms"] = rounded(blocks);
  json["padded_percent"] = rounded(batchPercent(row.batches, &BatchCosts::padded));
  json["minimum_percent"] = rounded(batchPercent(row.batches, &BatchCosts::minimum));
  return json;
}

/// Of one model on one data set at one precision: `rows` begin with the full model.
void addGroup(const std::string& name, const std::vector<const StudyRow*>& rows, std::vector<Json>& summaries) {
  const Accuracy full(*rows.front());
  std::vector<TradePoint> times, flops;
  for (const StudyRow* row : rows) {
    summaries.push_back(summaryOf(name, *row, row == rows.front() ? full : Accuracy(*row), full));
    const Json& json = summaries.back();
    const double miou = json["miou"].is_null() ? std::nan("") : json["miou"].get<double>();
    times.push_back({-json["speed_up"].get<double>(), miou});
    flops.push_back({json["gflop"].get<double>(), miou});
  }
  const std::vector<bool> time_front = paretoFront(times), flop_front = paretoFront(flops);
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
    const std::string name = unique(row.model + "_" + row.data + "_" + row.precision);
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

}  // namespace

void writeSummary(const std::vector<StudyRow>& rows, const std::string& folder) {
  std::string csv, lines;
  for (const Json& summary : summariesOf(rows)) {
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
}

}  // namespace mpm::cli
