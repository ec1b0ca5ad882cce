// SPDX-License-Identifier: Apache-2.0
#include "monitor/watch/camera.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "monitor/source_opener.h"
#include "monitor/store/calendar.h"
#include "monitor/watch/camera_plan.h"
#include "monitor/watch/model_settings.h"
#include "vision/sources/source.h"
#include "vision/times/archive.h"

namespace mpm::monitor {

namespace {

// The clock and the place of an archive are those that are stored, unless others are said.
void goOnWithClock(const StoreReader& store, const SourceRecord& archive, CameraConfig& config) {
  if (config.time_zone.empty()) config.time_zone = archive.time_zone;
  const bool none = config.night.empty() && config.night_hours.empty() && !config.night_brightness;
  if ((none || config.night == "sun") && !config.lat && !config.lon) {
    if (const auto place = storedPlace(store, archive.id))
      std::tie(config.lat, config.lon) = std::tuple(place->latitude, place->longitude);
  }
}

}  // namespace

CameraConfig continued(CameraConfig config, const StoreReader& store) try {
  const vision::SourceSpec source = vision::parseSourceSpec(config.source);
  for (const SourceRecord& stored : store.sources()) {
    const auto sessions = stored.name == source.name() ? store.sessions(stored.id) : std::vector<SessionRecord>();
    if (sessions.empty()) continue;
    const SessionRecord& latest = sessions.back();
    if (config.model.empty()) {
      config.model = latest.model;
      if (config.reduce.empty()) config.reduce = latest.reduce;
      // A model that was converted since has a precision of its own, which is no fp32 that somebody asked for.
      if (config.precision.empty() && latest.precision != "fp32") config.precision = latest.precision;
      goOnWith(latest.settings, config);
    }
    if (!stored.archive || !vision::isArchive(source, {}) || config.times == "none") continue;
    goOnWithClock(store, stored, config);
    if (config.times.empty()) config.times = latest.times;
  }
  return config;
} catch (const Error&) {  // the session says what is wrong with the database
  return config;
}

NightRule judgingRule(const CameraConfig& said, const StoreReader& stored) {
  const std::string name = vision::parseSourceSpec(said.source).name();
  const auto sources = stored.sources();
  const auto source = std::ranges::find(sources, name, &SourceRecord::name);
  if (source == sources.end() || !source->archive) return cameraPlan(said).night;
  CameraConfig config = said;
  goOnWithClock(stored, *source, config);
  if (source->clock && timeOptions(config).clock() != *source->clock)
    throw CameraConfigError("time-zone", "what is stored has the times of " + source->time_zone + ": leave it out");
  NightRule rule = nightRule(config);
  if (auto* const hours = std::get_if<NightByHours>(&rule)) hours->clock = timeOptions(config).clock();
  return rule;
}

Camera cameraOf(const CameraConfig& said, const StoreReader* stored) {
  const CameraConfig config = stored ? continued(said, *stored) : said;
  if (said.model.empty() && !config.model.empty() && !std::filesystem::exists(config.model)) {
    throw CameraConfigError("model",
                            "the model that measured what is stored, '" + config.model + "', is not there any more");
  }
  if (const std::string list = timeOptions(config).list;
      said.times.empty() && !list.empty() && !std::filesystem::exists(list))
    throw CameraConfigError("times", "the list of times of what is stored, '" + list + "', is not there any more");
  Camera camera{.name = cameraName(said), .said = said};
  camera.session = sessionOptions(config);
  camera.plan = cameraPlan(config);
  camera.files = readIn(said, camera.plan);
  const bool video = camera.plan.source.kind == vision::SourceKind::kVideo;
  if (stored && !camera.plan.archive && (video || camera.plan.source.isImages())) {
    for (const SourceRecord& record : stored->sources()) {
      const std::string why = record.name == camera.plan.source.name() ? missingTimes(camera.plan, record) : "";
      if (!why.empty()) throw CameraConfigError(video ? "start" : "times", why);
    }
  }
  // Pictures of an archive are far apart, and after a kill some are left out.
  if (camera.plan.archive) camera.session.choose_reuse = false;
  return camera;
}

void checkConfig(const CameraConfig& config) {
  if (config.source.empty())
    throw CameraConfigError("source", "no source: name a camera, a URL, a video or a folder of images");
  try {
    vision::checkSource(vision::parseSourceSpec(config.source));  // no retry can mend these
  } catch (const Error& error) {
    throw CameraConfigError("source", error.what());
  }
  if (config.db.empty()) throw CameraConfigError("db", "no database: name the file to write");
  if (!config.snapshots.empty()) return;
  for (const auto& [key, said] : {std::pair("snapshot-every", config.snapshot_every.has_value()),
                                  {"merge-maps", config.merge_maps},
                                  {"keep-snapshots", config.keep_snapshots.has_value()},
                                  {"min-free", config.min_free.has_value()}})
    if (said) throw CameraConfigError(key, "needs 'snapshots', the folder of the pictures");
}

}  // namespace mpm::monitor
