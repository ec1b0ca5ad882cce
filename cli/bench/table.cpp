// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/table.h"

#include <algorithm>
#include <functional>
#include <string>

#include "base/number_text.h"
#include "base/quantiles.h"
#include "base/size_text.h"
#include "evaluation/machine.h"
#include "mpm/build_info.hpp"
#include "program/terminal/output.h"
#include "program/terminal/program.h"
#include "vision/model_files.h"
#include "vision/sources/source.h"

namespace mpm::cli {

using namespace program;

namespace {

// The peak of a precision: the best that any variant saw in this run, on the same cores.
double peakOf(const std::vector<Variant>& variants, const std::string& precision) {
  double peak = 0;
  for (const Variant& variant : variants)
    if (variant.precision == precision) peak = std::max(peak, variant.peak_gflops);
  return peak;
}

std::optional<double> known(double value) { return value > 0 ? std::optional(value) : std::nullopt; }

// To the first variant, round by round: what slows the machine down for a while slows both, and is no spread of this.
Json ratioPerRound(const Variant& variant, const Variant& first) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(variant.ms.size(), first.ms.size()); ++i)
    ratios.push_back(variant.ms[i] / first.ms[i]);
  return {{"median", evaluation::orNull(quantile(ratios, 0.5))},
          {"p25", evaluation::orNull(quantile(ratios, 0.25))},
          {"p75", evaluation::orNull(quantile(ratios, 0.75))}};
}

/// Mean ms of the operators of the head in a round, the slowest first.
std::vector<OperatorTime> headOf(const Variant& variant) {
  std::vector<OperatorTime> mean = variant.head;
  for (OperatorTime& time : mean) time.ms /= static_cast<double>(variant.ms.size());
  std::ranges::stable_sort(mean, std::greater(), &OperatorTime::ms);
  return mean;
}

Json headJson(const Variant& variant) {
  Json rows = Json::array();
  for (const OperatorTime& time : headOf(variant))
    rows.push_back({{"operator", time.op}, {"layers", time.layers}, {"ms", time.ms}});
  return rows;
}

void printHead(const Variant& variant) {
  printLine("head of " + variant.name + ", means:");
  const std::vector<OperatorTime> times = headOf(variant);
  double total = 0;
  for (const OperatorTime& time : times) total += time.ms;
  const auto line = [](const std::vector<std::string>& cells) { printLine(tableRow(cells, {-26, 8, 11, 8})); };
  line({"operator", "layers", "ms", "share"});
  for (const OperatorTime& time : times) {
    line({time.op, std::to_string(time.layers), fixed(time.ms, 2),
          total > 0 ? fixed(100 * time.ms / total, 0) + " %" : "-"});
  }
}

Json rowJson(const Row& row, const Variant& first, int batch) {
  const Variant& variant = row.variant;
  return {{"name", variant.name},
          {"reduce", toString(variant.reduction)},
          {"reuse", toString(variant.reuse)},
          {"precision", variant.precision},
          {"batch", batch},
          {"ms",
           {{"median", evaluation::orNull(row.ms)},
            {"p10", evaluation::orNull(quantile(variant.ms, 0.1))},
            {"p90", evaluation::orNull(quantile(variant.ms, 0.9))},
            {"rounds", variant.ms}}},
          {"ratio", evaluation::orNull(row.ratio)},
          {"ratio_per_round", ratioPerRound(variant, first)},
          {"stages", row.stages},
          {"head", headJson(variant)},
          {"gflop", evaluation::orNull(variant.gflop.mean())},
          {"tokens", variant.tokens},
          {"rows", variant.rows.values},
          {"agreement", evaluation::orNull(variant.agreement.mean())},
          {"peak_fraction", evaluation::orNull(row.peak_share)},
          {"note", variant.note}};
}

}  // namespace

Row::Row(const Variant& v, const std::vector<Variant>& all)
    : variant(v), ms(v.median()), ratio(ms / all.front().median()), peak(peakOf(all, v.precision)) {
  if (peak > 0 && !v.gflop.values.empty()) peak_share = v.gflop.mean() / ms * 1e3 / peak;
  for (const auto& [stage, values] : v.stages) {
    const double median = quantile(values, 0.5);
    const bool of_frames = stage == "preprocess" || stage == "postprocess";  // else the net gets a tensor
    if (stage != "total" && (!of_frames || median > 0)) stages[stage] = median;
  }
}

Json resultJson(const std::vector<Variant>& variants, const BenchArguments& arguments, const ModelInfo& model,
                int threads) {
  Json rows = Json::array();
  for (const Variant& variant : variants)
    rows.push_back(rowJson(Row(variant, variants), variants.front(), arguments.batch));
  Json peaks = Json::object();
  for (const Variant& variant : variants)
    peaks[variant.precision] = evaluation::orNull(known(peakOf(variants, variant.precision)));
  return {{"model", {{"path", arguments.model}, {"digest", vision::modelDigest(arguments.model)}}},
          {"image", arguments.image.empty() ? Json(nullptr) : Json(vision::redactCredentials(arguments.image))},
          {"simulated_night", toJson(arguments.night)},
          {"input", sizeJson(model.input)},
          {"device", arguments.options.device},
          {"threads", threads},
          {"batch", arguments.batch},
          {"warm_up", arguments.warmUp()},
          {"rounds", arguments.rounds},
          {"cpu", evaluation::cpuName()},
          {"mpm", {{"version", buildInfo().version}, {"opencv", buildInfo().opencv}}},
          {"gemm_peak_gflops", peaks},
          {"variants", rows}};
}

void printTable(const std::vector<Variant>& variants, const BenchArguments& arguments, int threads) {
  int name_width = 26;
  for (const Variant& variant : variants) name_width = std::max(name_width, static_cast<int>(variant.name.size()));
  const auto line = [name_width](std::vector<std::string> cells) {
    for (std::size_t i = 1; i < cells.size(); ++i) cells[i] = "  " + cells[i];
    printLine(tableRow(cells, {-name_width, 11, 17, 9, 10, 8, -1}));
  };
  line({"variant", "ms", "p10 - p90", "ratio", "GFLOP", "peak", "note"});
  std::vector<std::string> stages;
  for (const Variant& variant : variants) {
    const Row row(variant, variants);
    const auto& ms = variant.ms;
    line({variant.name, fixed(row.ms, 2),
          ms.empty() ? "-" : fixed(quantile(ms, 0.1), 2) + " - " + fixed(quantile(ms, 0.9), 2), fixed(row.ratio, 3),
          fixed(variant.gflop.mean(), 2), row.peak_share ? fixed(100 * *row.peak_share, 0) + " %" : "-", variant.note});
    if (row.stages.empty()) continue;
    std::string text = variant.name + ":";
    for (const auto& [stage, time] : row.stages.items()) text += " " + stage + " " + fixed(time.get<double>(), 2);
    stages.push_back(text + " ms");
  }
  for (const std::string& text : stages) printLine(text);
  for (const Variant& variant : variants)
    if (arguments.head && !variant.head.empty()) printHead(variant);
  std::string peaks;
  for (const Variant& variant : variants) {
    if (const std::string peak =
            ", GEMM peak " + variant.precision + " " + fixed(peakOf(variants, variant.precision), 0);
        variant.peak_gflops > 0 && peaks.find(peak) == std::string::npos)
      peaks += peak + " GFLOP/s";
  }
  printLine("batch " + std::to_string(arguments.batch) + ", " + counted(threads, "thread") + ", " +
            (arguments.reuses() ? counted(arguments.rounds, "frame") + ", picture to labels"
                                : counted(arguments.rounds, "round") + ", tensor to label map") +
            peaks);
}

}  // namespace mpm::cli
