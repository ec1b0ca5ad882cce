// SPDX-License-Identifier: Apache-2.0
#include "monitor/watch/camera_plan.h"

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
    throw CameraConfigError(key, error.what(), cameraField(key).path != FieldPath::kNone);
  }
}

// `key`: the field that names the file.
std::vector<vision::Region> readRegionsOf(const CameraConfig& config, const char* key, const std::string& path) {
  return of(key, [&] { return vision::readRegions(path, timeOptions(config).clock()); });
}

// How the times of pictures are read; nullopt: the source is none of pictures, or of a video without a start.
std::optional<vision::ArchiveOptions> archiveOptions(const CameraConfig& config, const vision::SourceSpec& source) {
  using enum vision::SourceKind;
  if (config.follow && !source.isFolder()) throw CameraConfigError("follow", "only a folder or a glob can be followed");
  if (config.times == "none") return std::nullopt;
  vision::ArchiveOptions archive{
      .times = timeOptions(config), .every_s = config.every.value_or(0), .follow = config.follow};
  if (!config.start.empty()) {
    if (source.kind != kVideo && source.kind != kMissing) throw CameraConfigError("start", "it is for a video");
    archive.start = vision::readTime(config.start)->utc(archive.times.clock());
  }
  if (!vision::isArchive(source, archive)) {
    if (source.kind != kMissing && !(config.times.empty() && config.time_zone.empty()))
      throw CameraConfigError(config.times.empty() ? "time-zone" : "times", "it is for pictures");
    return std::nullopt;
  }
  for (const auto& [key, said] : {std::pair("keep", config.keep.value_or(0) > 0),
                                  {"max-size", config.max_size.value_or(0) > 0},
                                  {"summary", config.summary.has_value()}}) {
    if (said)
      throw CameraConfigError(key, "it is for a camera: pictures with times of their own are old from the first");
  }
  return archive;
}

}  // namespace

vision::TimeOptions timeOptions(const CameraConfig& config) {
  vision::TimeOptions times;
  if (!config.times.empty() && config.times != "none")
    times = of("times", [&] { return vision::parseTimes(config.times); });
  if (!config.time_zone.empty())
    times.time_zone = of("time-zone", [&] { return vision::CameraClock(config.time_zone); });
  return times;
}

EstimatorOptions inferenceOptions(const CameraConfig& config) {
  EstimatorOptions options;
  if (!config.reduce.empty()) options.reduce = of("reduce", [&] { return parseReduction(config.reduce); });
  if (!config.input_size.empty()) options.input_size = of("input-size", [&] { return parseSize(config.input_size); });
  if (!config.precision.empty()) options.precision = of("precision", [&] { return parsePrecision(config.precision); });
  if (!config.device.empty()) options.device = config.device;
  if (!config.refine.empty()) options.refine = of("refine", [&] { return parseRefine(config.refine); });
  if (!config.reuse.empty()) options.reuse = of("reuse", [&] { return parseReuse(config.reuse); });
  if (config.threads) options.threads = *config.threads;
  options.min_score = config.min_score;
  options.min_overlap = config.min_overlap.value_or(options.min_overlap);
  options.features = !config.states.empty();
  return options;
}

void setInference(CameraConfig& config, const EstimatorOptions& options) {
  const EstimatorOptions usual;
  const auto number = []<typename Number>(Number value, Number otherwise) {
    return value == otherwise ? std::nullopt : std::optional(value);
  };
  config.reduce = options.reduce ? toString(*options.reduce) : "";
  config.input_size = options.input_size ? toString(*options.input_size) : "";
  config.precision = options.precision ? toString(*options.precision) : "";
  config.device = options.device == usual.device ? "" : options.device;
  config.refine = options.refine ? toString(*options.refine) : "";
  config.threads = number(options.threads, usual.threads);
  config.min_score = options.min_score;
  config.min_overlap = number(options.min_overlap, usual.min_overlap);
}

NightRule nightRule(const CameraConfig& config) {
  const bool sun = config.lat || config.lon, brightness = config.night_brightness.has_value(),
             hours = !config.night_hours.empty();
  std::string by = config.night;
  if (by.empty()) {
    if (sun + brightness + hours > 1) {
      throw CameraConfigError(
          "night", std::string("several rules are given: say which one counts, ") + cameraField("night").unit);
    }
    by = sun ? "sun" : brightness ? "brightness" : hours ? "hours" : "none";
  }
  NightRule rule;
  if (by == "sun") {
    if (!config.lat || !config.lon) {
      throw CameraConfigError(config.lat   ? "lat"
                              : config.lon ? "lon"
                                           : "night",
                              "the sun needs both, lat and lon of the camera");
    }
    rule = NightBySun{*config.lat, *config.lon, config.night_elevation.value_or(NightBySun().night_below)};
  } else if (by == "brightness") {
    const double below = config.night_brightness.value_or(NightByBrightness().night_below);
    rule = NightByBrightness{below, config.day_brightness.value_or(NightByBrightness::dayAbove(below))};
  } else if (by == "hours") {
    if (!hours) throw CameraConfigError("night-hours", "from when to when is it night? Write 21:00-06:30");
    rule = of("night-hours", [&] { return parseNightHours(config.night_hours); });
  }
  of(by == "brightness" ? "night-brightness" : "night", [&] { validate(rule); });
  return rule;
}

StoreOptions storeOptions(const CameraConfig& config) {
  return {.keep_days = config.keep.value_or(0), .max_megabytes = config.max_size.value_or(0)};
}

SnapshotOptions snapshotOptions(const CameraConfig& config) {
  return {.folder = config.snapshots,
          .every_minutes = config.snapshot_every.value_or(60),
          .keep_days = config.keep_snapshots.value_or(config.keep.value_or(0)),
          .min_free_megabytes = config.min_free.value_or(0),
          .merge_maps = config.merge_maps};
}

CameraPlan cameraPlan(const CameraConfig& config) {
  CameraPlan options{.every_frame = true, .samples_only = true, .resume_demo = true};
  options.source = vision::parseSourceSpec(config.source);
  options.archive = archiveOptions(config, options.source);
  options.every_s = config.every.value_or(options.archive ? 0 : 1);
  options.timeout_s = config.timeout.value_or(options.timeout_s);
  if (options.every_s > 0 && !options.archive) options.max_fps = 1 / options.every_s;
  CameraConfig placed = config;
  const bool sun =
      config.night.empty() ? !config.night_brightness && config.night_hours.empty() : config.night == "sun";
  if (options.source.kind == vision::SourceKind::kDemo && sun && !config.lat && !config.lon) {
    try {
      if (const auto place = vision::openSource(options.source, {.frame_step_s = config.every.value_or(1)})->place())
        std::tie(placed.lat, placed.lon) = std::pair(place->latitude, place->longitude);  // a scene has its own place
    } catch (const Error&) {
      placed.night = "none";  // opening it again reports the error
    }
  }
  options.night = nightRule(placed);
  if (placed.lat && placed.lon) options.place = vision::GeoPosition{*placed.lat, *placed.lon};
  if (auto* const hours = std::get_if<NightByHours>(&options.night); hours && options.archive)
    hours->clock = options.archive->times.clock();
  for (const std::string& text : config.alarm) of("alarm", [&] { options.alarms.alarms.push_back(parseAlarm(text)); });
  options.alarms.minutes = config.alarm_minutes.value_or(options.alarms.minutes);
  of("alarm", [&] { options.alarms.validate(); });
  options.summary_hour = config.summary;
  if (!config.quality.empty()) options.quality = of("quality", [&] { return parseQuality(config.quality); });
  for (const std::string& path : config.states)
    of("states", [&] { options.states.heads.push_back(evaluation::readStates(path)); });
  options.states.files = config.states;
  if (config.state_after) options.states.after = *config.state_after;
  of("states", [&] { options.states.validate(); });
  if (config.regions == "none") options.regions.emplace();
  if (!config.regions.empty() && config.regions != "none")
    options.regions = readRegionsOf(config, "regions", config.regions);
  options.privacy = privacyOf(config);
  return options;
}

PrivacyChoice privacyOf(const CameraConfig& config) {
  PrivacyChoice privacy;
  if (config.hide == "none") privacy.hidden.emplace();
  if (!config.hide.empty() && config.hide != "none") privacy.hidden = readRegionsOf(config, "hide", config.hide);
  if (!config.blur.empty())
    privacy.blurred = config.blur == std::vector<std::string>{"none"} ? std::vector<std::string>() : config.blur;
  return privacy;
}

std::string readIn(const CameraConfig& config, const CameraPlan& plan) {
  std::string all;
  for (const auto* regions : {&plan.regions, &plan.privacy.hidden}) {
    for (const vision::Region& region : regions->value_or(std::vector<vision::Region>()))
      all += toLine(vision::toJson(region));
    all += '\n';
  }
  const std::string list = timeOptions(config).list;
  if (std::error_code ignored; std::filesystem::is_regular_file(list, ignored)) all += readFile(list);
  return all;
}

SessionOptions sessionOptions(const CameraConfig& config) {
  SessionOptions options{.model = config.model,
                         .inference = inferenceOptions(config),
                         .choose_reuse = config.reuse.empty(),
                         .database = config.db,
                         .store = storeOptions(config),
                         .snapshots = snapshotOptions(config),
                         .title = config.title};
  if (!config.on_event.empty()) options.on_event = of("on-event", [&] { return parseCommand(config.on_event); });
  return options;
}

}  // namespace mpm::monitor
