// SPDX-License-Identifier: Apache-2.0
#include "monitor/watch/watch_options.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "base/atomic_file.h"
#include "base/size_text.h"
#include "monitor/event_command.h"
#include "vision/sources/source.h"
#include "vision/times/picture_times.h"

namespace mpm::monitor {
namespace {

// Returns what `work` does, whose mpm::Error becomes one of this field.
template <typename Work>
auto of(const char* key, Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw WatchError(key, error.what(), watchField(key).path != FieldPath::kNone);
  }
}

// How the times of pictures are read; nullopt: the source is none of pictures, or of a video without a start.
std::optional<vision::ArchiveOptions> archiveOptions(const Watch& watch, const vision::SourceSpec& source) {
  using enum vision::SourceKind;
  if (watch.follow && source.kind != kFolder && source.kind != kGlob)
    throw WatchError("follow", "only a folder or a glob can be followed");
  if (watch.times == "none") return std::nullopt;
  vision::ArchiveOptions archive{
      .times = timeOptions(watch), .every_s = watch.every.value_or(0), .follow = watch.follow};
  if (!watch.start.empty()) {
    if (source.kind != kVideo && source.kind != kMissing) throw WatchError("start", "it is for a video");
    archive.start = vision::readTime(watch.start)->utc(archive.times.clock());
  }
  if (!vision::isArchive(source, archive)) {
    if (source.kind != kMissing && !(watch.times.empty() && watch.time_zone.empty()))
      throw WatchError(watch.times.empty() ? "time-zone" : "times", "it is for pictures");
    return std::nullopt;
  }
  for (const auto& [key, limit] : {std::pair("keep", watch.keep), std::pair("max-size", watch.max_size)})
    if (limit.value_or(0) > 0)
      throw WatchError(key, "it is for a camera: pictures with times of their own are old from the first");
  return archive;
}

}  // namespace

vision::TimeOptions timeOptions(const Watch& watch) {
  vision::TimeOptions times;
  if (!watch.times.empty() && watch.times != "none")
    times = of("times", [&] { return vision::parseTimes(watch.times); });
  if (!watch.time_zone.empty()) times.time_zone = of("time-zone", [&] { return vision::CameraClock(watch.time_zone); });
  return times;
}

EstimatorOptions inferenceOptions(const Watch& watch) {
  EstimatorOptions options;
  if (!watch.reduce.empty()) options.reduce = of("reduce", [&] { return parseReduction(watch.reduce); });
  if (!watch.input_size.empty()) options.input_size = of("input-size", [&] { return parseSize(watch.input_size); });
  if (!watch.precision.empty()) options.precision = of("precision", [&] { return parsePrecision(watch.precision); });
  if (!watch.device.empty()) options.device = watch.device;
  if (!watch.refine.empty()) options.refine = of("refine", [&] { return parseRefine(watch.refine); });
  if (!watch.reuse.empty()) options.reuse = of("reuse", [&] { return parseReuse(watch.reuse); });
  if (watch.threads) options.threads = *watch.threads;
  options.min_score = watch.min_score;
  options.min_overlap = watch.min_overlap.value_or(options.min_overlap);
  options.features = !watch.states.empty();
  return options;
}

void setInference(Watch& watch, const EstimatorOptions& options) {
  const EstimatorOptions usual;
  const auto number = []<typename Number>(Number value, Number otherwise) {
    return value == otherwise ? std::nullopt : std::optional(value);
  };
  watch.reduce = options.reduce ? toString(*options.reduce) : "";
  watch.input_size = options.input_size ? toString(*options.input_size) : "";
  watch.precision = options.precision == usual.precision ? "" : toString(options.precision);
  watch.device = options.device == usual.device ? "" : options.device;
  watch.refine = options.refine ? toString(*options.refine) : "";
  watch.threads = number(options.threads, usual.threads);
  watch.min_score = options.min_score;
  watch.min_overlap = number(options.min_overlap, usual.min_overlap);
}

NightRule nightRule(const Watch& watch) {
  const bool sun = watch.lat || watch.lon, brightness = watch.night_brightness.has_value(),
             hours = !watch.night_hours.empty();
  std::string by = watch.night;
  if (by.empty()) {
    if (sun + brightness + hours > 1)
      throw WatchError("night",
                       std::string("several rules are given: say which one counts, ") + watchField("night").unit);
    by = sun ? "sun" : brightness ? "brightness" : hours ? "hours" : "none";
  }
  NightRule rule;
  if (by == "sun") {
    if (!watch.lat || !watch.lon)
      throw WatchError(watch.lat   ? "lat"
                       : watch.lon ? "lon"
                                   : "night",
                       "the sun needs both, lat and lon of the camera");
    rule = NightBySun{*watch.lat, *watch.lon, watch.night_elevation.value_or(NightBySun().night_below)};
  } else if (by == "brightness") {
    const double below = watch.night_brightness.value_or(NightByBrightness().night_below);
    rule = NightByBrightness{below, watch.day_brightness.value_or(std::min(255.0, 1.3 * below + 5))};
  } else if (by == "hours") {
    if (!hours) throw WatchError("night-hours", "from when to when is it night? Write 21:00-06:30");
    rule = of("night-hours", [&] { return parseNightHours(watch.night_hours); });
  }
  of(by == "brightness" ? "night-brightness" : "night", [&] { validate(rule); });
  return rule;
}

StoreOptions storeOptions(const Watch& watch) {
  return {.keep_days = watch.keep.value_or(0), .max_megabytes = watch.max_size.value_or(0)};
}

SnapshotOptions snapshotOptions(const Watch& watch) {
  return {.folder = watch.snapshots,
          .every_minutes = watch.snapshot_every.value_or(60),
          .keep_days = watch.keep_snapshots.value_or(watch.keep.value_or(0)),
          .min_free_megabytes = watch.min_free.value_or(0),
          .merge_maps = watch.merge_maps};
}

CameraPlan cameraPlan(const Watch& watch) {
  CameraPlan options{.every_frame = true, .samples_only = true, .resume_demo = true};
  options.source = vision::parseSourceSpec(watch.source);
  options.archive = archiveOptions(watch, options.source);
  options.every_s = watch.every.value_or(options.archive ? 0 : 1);
  options.timeout_s = watch.timeout.value_or(options.timeout_s);
  if (options.every_s > 0 && !options.archive) options.max_fps = 1 / options.every_s;
  Watch placed = watch;
  const bool sun = watch.night.empty() ? !watch.night_brightness && watch.night_hours.empty() : watch.night == "sun";
  if (options.source.kind == vision::SourceKind::kDemo && sun && !watch.lat && !watch.lon) try {
      if (const auto place = vision::openSource(options.source, {.frame_step_s = watch.every.value_or(1)})->place())
        std::tie(placed.lat, placed.lon) = std::pair(place->latitude, place->longitude);  // a scene has its own place
    } catch (const Error&) {
      placed.night = "none";  // opening it again reports the error
    }
  options.night = nightRule(placed);
  if (placed.lat && placed.lon) options.place = vision::GeoPosition{*placed.lat, *placed.lon};
  if (auto* const hours = std::get_if<NightByHours>(&options.night); hours && options.archive)
    hours->clock = options.archive->times.clock();
  for (const std::string& text : watch.alarm) of("alarm", [&] { options.alarms.alarms.push_back(parseAlarm(text)); });
  options.alarms.minutes = watch.alarm_minutes.value_or(options.alarms.minutes);
  of("alarm", [&] { options.alarms.validate(); });
  options.summary_hour = watch.summary;
  if (!watch.quality.empty()) options.quality = of("quality", [&] { return parseQuality(watch.quality); });
  for (const std::string& path : watch.states)
    of("states", [&] { options.states.heads.push_back(evaluation::readStates(path)); });
  if (watch.state_after) options.states.after = *watch.state_after;
  of("states", [&] { options.states.validate(); });
  if (watch.regions == "none") options.regions.emplace();
  const auto read = [&](const char* key, const std::string& path) {
    return of(key, [&] { return vision::readRegions(path, timeOptions(watch).clock()); });
  };
  if (!watch.regions.empty() && watch.regions != "none") options.regions = read("regions", watch.regions);
  if (watch.hide == "none") options.privacy.hidden.emplace();
  if (!watch.hide.empty() && watch.hide != "none") options.privacy.hidden = read("hide", watch.hide);
  if (!watch.blur.empty())
    options.privacy.blurred = watch.blur == std::vector<std::string>{"none"} ? std::vector<std::string>() : watch.blur;
  return options;
}

std::string namedFiles(const Watch& watch) {
  std::vector<std::string> paths = watch.states;
  paths.insert(paths.end(), {watch.regions, watch.hide});
  if (watch.times.starts_with("list:")) paths.push_back(watch.times.substr(5));
  std::string all;
  for (const std::string& path : paths)
    if (std::error_code ignored; std::filesystem::is_regular_file(path, ignored)) all += readFile(path) + '\n';
  return all;
}

SessionOptions sessionOptions(const Watch& watch) {
  SessionOptions options{.model = watch.model,
                         .inference = inferenceOptions(watch),
                         .choose_reuse = watch.reuse.empty(),
                         .database = watch.db,
                         .store = storeOptions(watch),
                         .snapshots = snapshotOptions(watch),
                         .title = watch.title};
  if (!watch.on_event.empty()) options.on_event = of("on-event", [&] { return parseCommand(watch.on_event); });
  return options;
}

}  // namespace mpm::monitor
