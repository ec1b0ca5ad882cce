// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <memory>
#include <optional>

#include "base/atomic_file.h"
#include "base/number_text.h"
#include "base/visible_text.h"
#include "cli/report/outputs.h"
#include "cli/report/source_report.h"
#include "cli/verb_options.h"
#include "cli/verbs/verbs.h"
#include "cli/video.h"
#include "monitor/store/database_files.h"
#include "monitor/store/export.h"
#include "monitor/store/merge.h"
#include "monitor/store/store_reader.h"
#include "monitor/watch/camera_plan.h"
#include "mpm/error.hpp"
#include "program/paths.h"
#include "vision/pictures/pictures.h"
#include "vision/sources/source.h"

namespace mpm::cli {
namespace {

using namespace monitor;

// --format: what --export writes.
enum class ReportFormat { kCsv, kJsonLines, kPhenoCam, kOutages };

struct ReportArguments {
  std::vector<std::string> databases;
  std::string merged, source, export_path, chart_path, site;
  ReportScope scope;
  std::optional<ReportFormat> format;
  std::optional<double> lat, lon;
  FilmOptions film;
  std::string film_moment = "noon";
  bool json = false, brief = false;
};

std::vector<SourceRecord> chosenSources(const StoreReader& store, const std::string& name) {
  const std::string shown = vision::parseSourceSpec(name).name();  // as it was given to 'mpm monitor'
  std::vector<SourceRecord> chosen;
  for (SourceRecord& source : store.sources()) {
    if (name.empty() || source.name == name || source.name == shown || utf8Text(source.name) == name)  // of --json
      chosen.push_back(std::move(source));
  }
  if (chosen.empty()) {
    throw Error(name.empty() ? "the database holds no source yet"
                             : "the database holds no source '" + vision::redactCredentials(name) + "'");
  }
  return chosen;
}

// The name of the place, from that of the source: the last part of a path or URL.
std::string siteOf(const std::string& source) {
  const std::filesystem::path path(source);
  return fileName((path.has_filename() ? path : path.parent_path()).filename().string());
}

// Where the camera stands: as the options say, else as its latest session with a place.
std::optional<vision::GeoPosition> placeOf(const StoreReader& store, const SourceRecord& source,
                                           const ReportArguments& said) {
  if (said.lat && said.lon) return vision::GeoPosition{*said.lat, *said.lon};
  return storedPlace(store, source.id);
}

void writePhenoCamFiles(const StoreReader& store, const SourceReport& report, const ReportArguments& arguments) {
  const SourceRecord& source = report.source;
  const auto place = placeOf(store, source, arguments);
  if (!place)
    throw UsageError("PhenoCam's files need the height of the sun: say where the camera stands with --lat and --lon");
  PhenoCamOptions options;
  options.source = source.id;
  options.series = report.series.id;
  options.from = report.span.from;
  options.to = report.span.to;
  options.site = arguments.site.empty() ? siteOf(source.name) : fileName(arguments.site);
  options.latitude = place->latitude;
  options.longitude = place->longitude;
  options.ahead_of_utc = report.clock.standardTime(source.last).offset(source.last);
  makeFolder(arguments.export_path);
  for (const std::string& path : writePhenoCam(store, options, arguments.export_path)) printNote("wrote " + path);
}

void makeFilm(const StoreReader& store, const SourceReport& report, const ReportArguments& arguments) {
  FilmOptions film = arguments.film;
  film.series = report.series.id;
  film.from = report.span.from;
  film.to = report.upToNow() ? report.source.end : report.span.to;  // a snapshot may be newer than the last sample
  film.place = placeOf(store, report.source, arguments);
  film.clock = report.clock;
  film.moment = orUsageError([&] { return parseDayMoment(arguments.film_moment); });
  const FilmDays days = writeFilm(store, report.source, film);
  printNote("wrote " + film.path + ": " + counted(days.shown, "day") + " of " + film.clock.name() +
            (days.without > 0 ? "; " + counted(days.without, "day") + " between them without a picture" : ""));
}

// Throws UsageError for options that do not fit together, and for an output in the place of a database or of another
// output.
void check(const ReportArguments& arguments) {
  const bool phenocam = arguments.format == ReportFormat::kPhenoCam;
  // The files of a database stand beside what a link to it leads to.
  Inputs inputs;
  for (const std::string& one : arguments.databases) {
    std::error_code ignored;
    const auto files = databaseFiles(std::filesystem::weakly_canonical(one, ignored).string());
    inputs.files.insert(inputs.files.end(), files.begin(), files.end());
  }
  requireOutput("--merge", arguments.merged, inputs);
  if (!phenocam) requireOutput("--export", arguments.export_path, inputs);
  requireOutput("--chart", arguments.chart_path, inputs);
  requireEnding("--chart", arguments.chart_path, ".png");
  requireOutput("--film", arguments.film.path, inputs);
  if (!arguments.export_path.empty() && !arguments.chart_path.empty() &&
      sameFile(arguments.export_path, arguments.chart_path))
    throw UsageError("--export and --chart are the same file");
  if (arguments.format && arguments.export_path.empty())
    throw UsageError("--format needs --export, the file to write, or of phenocam the folder");
  if (!arguments.site.empty() && !phenocam) throw UsageError("--site is for --format phenocam");
  if (arguments.film.ending != FilmOptions().ending && arguments.film.folder.empty())
    throw UsageError("--film-show overlay and merge need --snapshots, where these pictures are");
}

void exportData(const StoreReader& store, const SourceReport& report, const ReportArguments& arguments) {
  const ReportFormat format = arguments.format.value_or(ReportFormat::kCsv);
  if (format == ReportFormat::kPhenoCam) return writePhenoCamFiles(store, report, arguments);
  if (format == ReportFormat::kOutages) {
    writeFileAtomically(arguments.export_path, outagesCsv(report.outages, report.clock));
    printNote("wrote " + arguments.export_path + ": " + counted(report.outages.size(), "outage"));
    return;
  }
  // Every sample, also those of a clock that was wrong.
  const Span exported = arguments.scope.days > 0 ? report.span : Span{INT64_MIN, INT64_MAX};
  const ExportOptions options{
      .format = format == ReportFormat::kJsonLines ? ExportFormat::kJsonLines : ExportFormat::kCsv,
      .source = report.source.id,
      .series = report.series.id,
      .from = exported.from,
      .to = exported.to,
      .clock = report.clock};
  const auto samples = exportSamples(store, options, arguments.export_path);
  printNote("wrote " + arguments.export_path + ": " + counted(*samples, "sample"));
}

int report(const ReportArguments& arguments) {
  check(arguments);
  std::optional<ScratchFolder> scratch;
  std::string database = arguments.databases.front();
  if (arguments.databases.size() > 1 || !arguments.merged.empty()) {
    database = arguments.merged.empty() ? scratch.emplace() / "all.db" : arguments.merged;
    mergeDatabases(arguments.databases, database);
    if (!scratch) printNote("wrote " + database);
  }
  const StoreReader store(database);
  std::uintmax_t bytes = 0;
  for (const std::string& one : scratch ? arguments.databases : std::vector<std::string>{database})
    bytes += std::filesystem::file_size(one);
  const auto sources = chosenSources(store, arguments.source);
  const bool writes = !arguments.export_path.empty() || !arguments.chart_path.empty() || !arguments.film.path.empty();
  if (writes && sources.size() > 1)
    throw UsageError("the database holds " + counted(sources.size(), "source") + ": name one with --source");
  // Who asks for a file has it, and no report beside it.
  const bool prints = !writes || arguments.json || arguments.brief;
  SourceReports reports(store, sources, database, arguments.scope, !arguments.brief);
  for (std::size_t i = 0; prints && i < sources.size(); ++i) {
    const SourceReport found = reports.next();
    if (arguments.json) {
      printLine(reportJson(found));
    } else if (arguments.brief) {
      printBrief(store, found, bytes);
    } else {
      printReport(found);
    }
  }
  if (!writes) return kOk;
  const SourceReport found(store, sources[0], arguments.scope,
                           !arguments.chart_path.empty() || arguments.format == ReportFormat::kOutages);
  if (!arguments.export_path.empty()) exportData(store, found, arguments);
  if (!arguments.film.path.empty()) makeFilm(store, found, arguments);
  if (!arguments.chart_path.empty()) {
    vision::writePicture(arguments.chart_path, reportChart(store, found));
    printNote("wrote " + arguments.chart_path);
  }
  return kOk;
}

}  // namespace

Verb addReport(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("report", "Sum up, export or draw what 'mpm monitor' stored");
  const auto arguments = std::make_shared<ReportArguments>();
  addOption(
      *verb, "DB", arguments->databases, " ...",
      "The database; 'mpm monitor' may write it at the same time. Several\nare taken together: the parts of --shard")
      ->required();
  addOption(*verb, "--merge", arguments->merged, "FILE", "Write what the databases hold into this new one, too");
  addOption(*verb, "--source", arguments->source, "NAME",
            "Only this source. Default: all; of --export, --chart and --film the only one");
  addNumber(*verb, "--days", arguments->scope.days, "N", 1e-3, 1e6, "Only the last days. Default: all");
  addOption(*verb, "--export", arguments->export_path, "FILE",
            "Write every sample of the series into this file; with --format phenocam the three files that PhenoCam has "
            "of each region, SITE_REGION_roistats.csv, _1day.csv and _3day.csv, into this folder");
  addChoice<std::optional<ReportFormat>>(
      *verb, "--format", arguments->format,
      {{"csv", ReportFormat::kCsv},
       {"phenocam", ReportFormat::kPhenoCam},
       {"jsonl", ReportFormat::kJsonLines},
       {"outages", ReportFormat::kOutages}},
      "CSV of the samples, a line of JSON for each, PhenoCam's files, or CSV of the outages: when the camera gave "
      "nothing that counts, and why. Default: csv");
  addOption(*verb, "--site", arguments->site, "NAME",
            "SITE of PhenoCam's files. Default: the end of the source's name");
  addField(*verb, "time-zone", arguments->scope.clock,
           [](const std::string& text) { return vision::CameraClock(text); })
      ->description(
          "The zone of the camera's clock, +01:00 or Europe/Paris with its summer time: for local times, days and "
          "--film-at. Default: the zone in which 'mpm monitor' read an archive, else that of this machine")
      ->group("Options");
  addOption(
      *verb, "--chart", arguments->chart_path, "FILE.png",
      "Draw the tokens, the classes, the regions and the states over time and, with --reuse, rows and agreement. Names "
      "in other letters than those of ASCII become question marks");
  addOption(
      *verb, "--film", arguments->film.path, "FILE.mp4",
      "Make a video of one stored picture a day: of an archive, or of the snapshots in --snapshots. Flagged pictures "
      "are left out")
      ->group("Film");
  addOption(*verb, "--snapshots", arguments->film.folder, "DIR", "The folder of snapshots of 'mpm monitor'");
  addOption(*verb, "--film-at", arguments->film_moment, "WHEN",
            "The picture of a day: noon (the sun is highest; 12:00 where the place of the camera is not known), 13:30, "
            "sun:20 (nearest to 20 degrees in the morning) or sun:20:evening. Default: noon");
  addText(*verb, "--film-show", "NAME,NAME",
          "date: write it into each picture. overlay or merge: instead of the picture of each snapshot its overlay, or "
          "the merge map that is there with 'merge-maps' of a watch file",
          [film = &arguments->film](const std::string& text) { film->show(text); });
  for (const char* name : {"--snapshots", "--film-at", "--film-show"})
    verb->get_option(name)->needs("--film")->group("Film");
  CLI::Option* const json = verb->add_flag("--json", arguments->json, "One JSON object per source");
  verb->add_flag("--brief", arguments->brief,
                 "One line per source: last sample, gaps, bad pictures, states, alarms, size of the database")
      ->excludes(json);
  addNumber(
      *verb, "--series", arguments->scope.series, "N", 1, 1e6,
      "The numbers of this series up to its last sample: samples of one model and reduction. Default: the latest");
  addNumber(*verb, "--lat", arguments->lat, "DEG", -90, 90,
            "Where the camera stands, degrees north: for PhenoCam's files and the sun in a film. Default: as stored");
  addNumber(*verb, "--lon", arguments->lon, "DEG", -180, 180, "Degrees east");
  verb->footer(
      R"(The uncertainty of the difference is a 95 % interval over whole days and nights, or over hours before there are three
of each: the frames of one night are not independent observations.

Areas are means over the samples of the series, in percent of the picture. For a model of 'mpm teach', "IoU"
is that of its cross-validation. "corrected" moves the share that the model confused there to the true classes: see
docs/teach.md.

Examples:
  mpm report street.db
  mpm report street.db --days 30 --chart month.png
  mpm report yard.db --days 1 --brief                         is all well?
  mpm report part1.db part2.db --merge all.db
  mpm report yard.db --format outages --export outages.csv    when was there no camera?
  mpm report street.db --format phenocam --export phenocam      roistats, 1-day and 3-day files of each region
  mpm report yard.db --film season.mp4 --snapshots pictures --film-show date
  mpm report archive.db --series 1                            what the first model measured
)");
  return {verb, [arguments] { return report(*arguments); }};
}

}  // namespace mpm::cli
