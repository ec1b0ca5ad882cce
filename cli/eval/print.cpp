// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/print.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/number_text.h"
#include "cli/verbs/verbs.h"
#include "mpm/convert.hpp"
#include "program/paths.h"

namespace mpm::cli {
namespace {

using evaluation::ConfusionMatrix;
using evaluation::Scores;

void printClasses(const evaluation::VariantResult& result, const std::vector<std::string>& names) {
  const auto columns = result.columns();
  const auto row = [&columns](const std::string& name, const auto& cell) {
    std::vector<std::string> cells = {name};
    for (const auto& [title, scores] : columns) cells.push_back(" " + cell(title, *scores));
    printLine(tableRow(cells, {-18, 9}));
  };
  const auto percents = [&](const std::string& name, const auto& value) {
    row(name, [&](const std::string&, const Scores& scores) { return fixed(100 * value(scores.matrix()), 2); });
  };
  const bool split = columns.size() > 1;
  if (split) row("IoU, %", [](const std::string& title, const Scores&) { return title; });
  for (std::size_t c = 0; c < names.size(); ++c)
    percents(names[c], [&](const ConfusionMatrix& matrix) { return matrix.iou()[c]; });
  percents("mIoU", [](const ConfusionMatrix& matrix) { return matrix.meanIou(); });
  percents("pixel accuracy", [](const ConfusionMatrix& matrix) { return matrix.pixelAccuracy(); });
  if (split) {
    row("images", [](const std::string&, const Scores& scores) { return std::to_string(scores.images()); });
    row("tokens kept", [](const std::string&, const Scores& scores) { return fixed(scores.tokens().back(), 1); });
  }
  if (result.all.images() == 0) return printLine("no image is in this shard");
  printLine("IoU in percent over " + counted(result.all.images(), "image") + "; tokens " +
            tokensText(result.all.tokens()) + "; " + fixed(result.all.ms().total, 1) + " ms per image");
}

Json resultJson(const MeasuredVariant& variant, const Measured& all) {
  Json json = variant.settings;
  for (const char* only_in_lines : {"model_digest", "reduce_digest", "net", "classes", "data", "labels"})
    json.erase(only_in_lines);
  json = variant.result.toJson(json, all.classes);
  if (!variant.result.labelled) {
    for (const char* of_labels : {"miou", "pixel_accuracy", "iou", "confusion"}) {
      for (const char* part : {"", "day", "night"}) {
        if (Json& scores = *part && json.contains(part) ? json[part] : json; scores.is_object())
          scores.erase(of_labels);
      }
    }
  }
  if (const Json reuse = variant.result.reuseJson(); !reuse.is_null()) json["reuse"] = reuse;
  if (all.variants.size() == 1) return json;
  if (const auto full = againstFull(variant, all)) {
    json["against_full"]["images"] = full->images;
    for (const auto& [key, interval] :
         {std::pair("agreement", full->agreement), {"miou_loss", full->loss}, {"speed_up", full->speed_up}})
      evaluation::addInterval(json["against_full"], key, interval);
  }
  if (variant.day) json["minus_day"] = variant.result.minus(all.variants[*variant.day].result);
  return json;
}

std::string rangeText(const evaluation::Interval& interval) {
  const std::string value = fixed(interval.value, 2);
  if (std::isnan(interval.low) || interval.low == interval.high) return value;
  return value + " (" + fixed(interval.low, 2) + " to " + fixed(interval.high, 2) + ")";
}

std::string rangeText(const Json& interval, const std::string& unit = "") {
  if (interval.is_null() || interval["mean"].is_null()) return "-";
  const std::string mean = fixed(interval["mean"].get<double>(), 1) + unit;
  if (interval["low"].is_null()) return mean;
  return mean + " (" + fixed(interval["low"].get<double>(), 1) + " to " + fixed(interval["high"].get<double>(), 1) +
         ")";
}

void printVariants(const Measured& all) {
  int width = 9;
  for (const MeasuredVariant& variant : all.variants) width = std::max(width, static_cast<int>(variant.label.size()));
  const std::vector<int> widths = {-width, 9, 9, 23, 26, 9, 10};
  printLine(tableRow({"reduction", "tokens", "mIoU %", "loss", "agreement %", "mean ms", "speed-up"}, widths));
  std::set<int> counts, compared;
  std::set<std::string> precisions, of_full;
  for (const MeasuredVariant& variant : all.variants) {
    const Scores& scores = variant.result.all;
    if (scores.images() == 0) continue;
    const auto beside = againstFull(variant, all);
    const evaluation::AgainstFull full = beside.value_or(evaluation::AgainstFull());
    counts.insert(scores.images());
    precisions.insert(variant.settings["precision"].get<std::string>());
    if (beside) {
      compared.insert(full.images);
      of_full.insert(variant.settings["full_precision"].get<std::string>());
    }
    printLine(tableRow({variant.label, fixed(scores.tokens().back(), 1),
                        variant.result.labelled ? fixed(100 * scores.matrix().meanIou(), 2) : "-", rangeText(full.loss),
                        rangeText(full.agreement), fixed(scores.ms().total, 1), fixed(full.speed_up.value, 2)},
                       widths));
  }
  for (const MeasuredVariant& variant : all.variants) {
    if (variant.day) {
      const Json more = variant.result.minus(all.variants[*variant.day].result);
      std::string steps;
      for (std::size_t k = 1; k < more["tokens"].size(); ++k)
        steps += (k > 1 ? ", " : "") + rangeText(more["tokens"][k]);
      printLine(variant.label + ": more tokens than by day after each step: " + (steps.empty() ? "-" : steps) +
                "; merged: " + rangeText(more["merged_percent"], " %") + "; 95 % intervals of " +
                counted(more["images"].get<int>(), "image") + " in " + counted(more["blocks"].get<int>(), "block"));
    }
  }
  const auto rangeOf = [](const std::set<int>& numbers) {
    if (numbers.empty()) return counted(0, "image");
    return (numbers.size() > 1 ? std::to_string(*numbers.begin()) + " to " : "") + counted(*numbers.rbegin(), "image");
  };
  std::string line = "over " + rangeOf(counts);
  if (!of_full.empty()) {
    const bool labelled = std::ranges::any_of(all.variants, [](const auto& one) { return one.result.labelled; });
    line += labelled ? "; loss in points of mIoU; agreement, loss and speed-up (median) against the full model"
                     : "; agreement and speed-up (median) against the full model";
    if (precisions.size() > 1 && of_full.size() == 1) line += " with " + *of_full.begin();
    if (compared != counts) line += ", agreement and speed-up over " + rangeOf(compared);
    line += "; in brackets 95 % intervals";
  }
  printLine(line);
}

}  // namespace

void printMeasured(const Measured& all, bool json) {
  const MeasuredVariant& first = all.variants.front();
  std::set<std::string> sessions;
  for (const MeasuredVariant& variant : all.variants)
    sessions.insert(variant.result.sessions.begin(), variant.result.sessions.end());
  if (sessions.size() > 1)
    printNote("the ms are of " + counted(static_cast<int>(sessions.size()), "session") + ": compare the speed-up only");
  if (json)
    for (const MeasuredVariant& variant : all.variants) printLine(resultJson(variant, all));
  else if (all.variants.size() > 1)
    printVariants(all);
  else
    printClasses(first.result, all.classes);
  for (const MeasuredVariant& variant : all.variants) {
    if (const Json reuse = variant.result.reuseJson(); !json && !reuse.is_null()) {
      printLine((all.variants.size() > 1 ? variant.label + ": " : "reuse: ") +
                fixed(100 * reuse["rows"].get<double>(), 1) + " % of the rows computed, " +
                counted(reuse["key_frames"].get<int>(), "key frame") + " after the first of each film");
    }
  }
}

int showMeasured(const Measured& measured, const MeasurePlan& plan, bool json) {
  if (!measured.finished) {
    return endInterrupted(" after " + counted(measured.variants.front().result.all.images(), "image") +
                          (plan.resume.empty() ? ": no result" : ": the same command goes on from here"));
  }
  printMeasured(measured, json);
  noteAssumed(readModelInfo(chosenModel(plan.model), plan.options.convert()));
  return kOk;
}

}  // namespace mpm::cli
