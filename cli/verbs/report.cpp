// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "base/atomic_file.h"
#include "cli/paths.h"
#include "cli/pictures/chart_picture.h"
#include "cli/terminal/errors.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "cli/verbs/verbs.h"
#include "monitor/store/export.h"
#include "monitor/store/store.h"
#include "mpm/error.hpp"
#include "vision/pictures.h"
#include "vision/source.h"

namespace mpm::cli {
namespace {

using namespace monitor;

struct ReportArguments {
  std::string database, source, export_path, chart_path;
  ExportFormat format = ExportFormat::kCsv;
  double days = 0;  // 0: all
  bool json = false;
};

std::vector<SourceRecord> chosenSources(const StoreReader& store, const std::string& name) {
  const std::string shown = vision::redactCredentials(name);  // an address as it was given to 'mpm monitor'
  std::vector<SourceRecord> chosen;
  for (SourceRecord& source : store.sources())
    if (name.empty() || source.name == name || source.name == shown) chosen.push_back(std::move(source));
  if (chosen.empty())
    throw Error(name.empty() ? "the database holds no source yet" : "the database holds no source '" + shown + "'");
  return chosen;
}

struct Span {
  UnixMs from, to;
};

Span everythingOf(const SourceRecord& source) { return {source.first, source.last + 1}; }

// A clock that was wrong for a minute left samples of days to come, or of 1970: they are not the last ones, and not the
// first, unless all are such.
Span spanOf(const StoreReader& store, const SourceRecord& source, double days) {
  constexpr UnixMs kNoClockWasSet = 1'577'836'800'000;  // 2020-01-01
  const UnixMs now = unixNow(), to = (source.first <= now ? std::min(source.last, now) : source.last) + 1;
  UnixMs from = source.first;
  if (from < kNoClockWasSet && kNoClockWasSet < to) {
    const Chart later = store.chart({.source = source.id, .from = kNoClockWasSet, .to = to});
    if (!later.buckets.empty()) from = std::max(later.buckets.front().start, kNoClockWasSet);
  }
  return {days > 0 ? std::max(from, to - static_cast<UnixMs>(days * kDayMs)) : from, to};
}

std::int64_t samplesIn(const StoreReader& store, const SourceRecord& source, const Span& span) {
  const bool all = span.from <= source.first && source.last < span.to;  // whose number is known already
  return all ? source.samples : store.count(source.id, span.from, span.to);
}

// Of the samples that figures by day and by night are made of: those of other models and schedules are not.
int daysPooled(const StoreReader& store, const SourceRecord& source, const Span& span) {
  std::set<std::int64_t> days;
  for (const HourOfTokens& hour : store.hoursOfTokens(source.id, span.from, span.to)) days.insert(hour.start / kDayMs);
  return static_cast<int>(days.size());
}

std::string signedText(double value) { return (value >= 0 ? "+" : "") + fixed(value, 2); }

void printRow(const std::string& name, const Summary& summary, const std::optional<double>& change) {
  const auto cell = [](const std::string& text) {
    return std::string(static_cast<std::size_t>(std::max(1, 11 - static_cast<int>(text.size()))), ' ') + text;
  };
  std::string line = "  " + name + std::string(8 - name.size(), ' ') + cell(std::to_string(summary.samples));
  for (double value : {summary.mean, summary.median, summary.p90, summary.min, summary.max})
    line += cell(summary.samples > 0 ? fixed(value, 1) : "-");
  printLine(line + cell(change ? signedText(*change) : "-"));
}

void printReport(const StoreReader& store, const SourceRecord& source, double days) {
  const auto [from, to] = spanOf(store, source, days);
  printLine(source.name);
  printLine("  " + isoTime(from) + " to " + isoTime(to) + ", " + std::to_string(samplesIn(store, source, {from, to})) +
            " samples kept");
  const auto sessions = store.sessions(source.id);
  if (!sessions.empty())
    printLine("  model " + sessions.back().model + ", schedule " + mpm::toString(sessions.back().schedule) + ", " +
              std::to_string(sessions.back().tokens) + " tokens before merging");
  const DayNightStatistics statistics = store.dayNight(source.id, from, to);
  if (statistics.day.samples + statistics.night.samples == 0) {
    printLine(std::string(
        "  day and night are not known: give 'mpm monitor' --lat and --lon, --night-brightness or --night"));
    return;
  }
  const int days_pooled = daysPooled(store, source, {from, to});
  printLine("  pooled: " + std::to_string(statistics.day.samples + statistics.night.samples) +
            " samples of this model and schedule, on " + std::to_string(days_pooled) +
            (days_pooled == 1 ? " day (UTC)" : " days (UTC)"));
  printLine(
      std::string("  tokens      samples       mean     median        p90        min        max     since yesterday"));
  printRow("day", statistics.day, statistics.day_change);
  printRow("night", statistics.night, statistics.night_change);
  if (!statistics.difference) return;
  const Difference& difference = *statistics.difference;
  std::string line = "  night - day " + signedText(difference.tokens);
  if (difference.plus_minus)
    line += " +- " + fixed(*difference.plus_minus, 2) + " (95 %, " + std::to_string(difference.day_blocks) + " + " +
            std::to_string(difference.night_blocks) +
            (difference.block == Difference::Block::kPeriod ? " days and nights)" : " hours)") +
            (difference.significant() ? "" : ": not told apart from zero");
  else
    line += ", too little to say how sure";
  printLine(line);
}

Json summaryJson(const Summary& summary, const std::optional<double>& change) {
  if (summary.samples == 0) return nullptr;
  return {{"samples", summary.samples},
          {"mean", summary.mean},
          {"median", summary.median},
          {"p90", summary.p90},
          {"min", summary.min},
          {"max", summary.max},
          {"change_since_yesterday", change ? Json(*change) : Json(nullptr)}};
}

Json reportJson(const StoreReader& store, const SourceRecord& source, double days) {
  const auto [from, to] = spanOf(store, source, days);
  const DayNightStatistics statistics = store.dayNight(source.id, from, to);
  const auto sessions = store.sessions(source.id);
  Json json = {{"source", source.name},
               {"from", isoTime(from, true)},
               {"to", isoTime(to, true)},
               {"samples", samplesIn(store, source, {from, to})},
               {"model", sessions.empty() ? Json(nullptr) : Json(sessions.back().model)},
               {"schedule", sessions.empty() ? Json(nullptr) : Json(sessions.back().schedule)},
               {"pooled",
                {{"samples", statistics.day.samples + statistics.night.samples},
                 {"days", daysPooled(store, source, {from, to})}}},
               {"day", summaryJson(statistics.day, statistics.day_change)},
               {"night", summaryJson(statistics.night, statistics.night_change)},
               {"night_minus_day", nullptr}};
  if (statistics.difference) {
    const Difference& difference = *statistics.difference;
    json["night_minus_day"] = {{"tokens", difference.tokens},
                               {"plus_minus_95", difference.plus_minus ? Json(*difference.plus_minus) : Json(nullptr)},
                               {"block", difference.block == Difference::Block::kPeriod ? "period" : "hour"},
                               {"day_blocks", difference.day_blocks},
                               {"night_blocks", difference.night_blocks}};
  }
  return json;
}

// The files of the database stand beside what a link to it leads to.
void requireApart(const ReportArguments& arguments) {
  std::error_code ignored;
  const std::string database = std::filesystem::weakly_canonical(arguments.database, ignored).string();
  for (const auto& [option, output] : {std::pair{"--export", arguments.export_path}, {"--chart", arguments.chart_path}})
    for (const char* ending : {"", "-wal", "-shm", "-journal", "-lock"})
      if (!output.empty() && sameFile(output, database + ending))
        throw UsageError(std::string(option) + " would replace the database: name another file");
  if (!arguments.export_path.empty() && !arguments.chart_path.empty() &&
      sameFile(arguments.export_path, arguments.chart_path))
    throw UsageError("--export and --chart are the same file");
}

int report(const ReportArguments& arguments) {
  requireApart(arguments);
  const StoreReader store(arguments.database);
  const auto sources = chosenSources(store, arguments.source);
  if ((!arguments.export_path.empty() || !arguments.chart_path.empty()) && sources.size() > 1)
    throw UsageError("the database holds " + std::to_string(sources.size()) + " sources: name one with --source");
  for (const SourceRecord& source : sources) {
    if (arguments.json)
      printLine(reportJson(store, source, arguments.days));
    else
      printReport(store, source, arguments.days);
  }
  const auto [from, to] = spanOf(store, sources[0], arguments.days);
  if (!arguments.export_path.empty()) {
    const Span span = arguments.days > 0 ? Span{from, to} : everythingOf(sources[0]);
    const std::int64_t samples =
        exportSamples(store, {.format = arguments.format, .source = sources[0].id, .from = span.from, .to = span.to},
                      arguments.export_path);
    printNote("wrote " + arguments.export_path + ": " + std::to_string(samples) + " samples");
  }
  if (!arguments.chart_path.empty()) {
    const Chart chart = store.chart({.source = sources[0].id,
                                     .from = from,
                                     .to = to,
                                     .quantities = {{Quantity::Kind::kTokens, -1}},
                                     .max_buckets = 1170});
    vision::writePicture(arguments.chart_path,
                         chartPicture(chart, from, to, {.title = "Tokens kept, " + sources[0].name, .unit = "tokens"}));
    printNote("wrote " + arguments.chart_path);
  }
  return kOk;
}

}  // namespace

Verb addReport(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("report", "Sum up, export or draw what 'mpm monitor' stored");
  const auto arguments = std::make_shared<ReportArguments>();
  verb->add_option("DB", arguments->database, "The database; it may be written meanwhile")
      ->required()
      ->option_text(" ");
  verb->add_option("--source", arguments->source, "Of several sources, this one")->option_text("NAME");
  verb->add_option("--days", arguments->days, "Only the last so many days. Default: all")
      ->check(CLI::Range(0.0, 1e6))
      ->option_text("N");
  verb->add_option("--export", arguments->export_path, "Write every sample to this file")->option_text("FILE");
  verb->add_option("--format", arguments->format, "Of --export: csv, phenocam (CSV with its header) or jsonl")
      ->transform(CLI::CheckedTransformer(std::map<std::string, ExportFormat>{
          {"csv", ExportFormat::kCsv}, {"phenocam", ExportFormat::kPhenoCam}, {"jsonl", ExportFormat::kJsonLines}}))
      ->option_text("csv|phenocam|jsonl");
  verb->add_option("--chart", arguments->chart_path, "Draw the tokens over time as a PNG")->option_text("FILE.png");
  verb->add_flag("--json", arguments->json, "One JSON object per source");
  verb->footer(
      "The uncertainty of the difference is a 95 % interval over whole days and nights, over hours before there are\n"
      "three of each: the frames of one night are no independent observations.\n\n"
      "Examples:\n"
      "  mpm report street.db --days 30 --chart month.png\n"
      "  mpm report street.db --export street.csv --format phenocam\n");
  return {verb, [arguments] { return report(*arguments); }};
}

}  // namespace mpm::cli
