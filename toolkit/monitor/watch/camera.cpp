// SPDX-License-Identifier: Apache-2.0
#include "monitor/watch/camera.h"

#include <filesystem>
#include <tuple>

#include "monitor/watch/watch_options.h"
#include "vision/sources/source.h"
#include "vision/times/archive.h"

namespace mpm::monitor {
namespace {

// What is said, and where nothing is said what is stored of the source.
Watch continued(Watch watch, const StoreReader& store) try {
  const vision::SourceSpec source = vision::parseSourceSpec(watch.source);
  for (const SourceRecord& stored : store.sources()) {
    const auto sessions = stored.name == source.name() ? store.sessions(stored.id) : std::vector<SessionRecord>();
    if (sessions.empty()) continue;
    const SessionRecord& latest = sessions.back();
    if (watch.model.empty()) {
      watch.model = latest.model;
      if (watch.reduce.empty()) watch.reduce = latest.reduce;
      if (watch.precision.empty()) watch.precision = latest.precision;
    }
    if (!stored.archive || !vision::isArchive(source, {}) || watch.times == "none") continue;
    if (watch.time_zone.empty()) watch.time_zone = stored.time_zone;
    if (watch.night.empty() && watch.night_hours.empty() && !watch.night_brightness && !watch.lat && !watch.lon)
      std::tie(watch.lat, watch.lon) = std::tie(latest.latitude, latest.longitude);
  }
  return watch;
} catch (const Error&) {  // the session says what is wrong with the database
  return watch;
}

}  // namespace

Camera cameraOf(const Watch& said, const StoreReader* stored) {
  const Watch watch = stored ? continued(said, *stored) : said;
  if (said.model.empty() && !watch.model.empty() && !std::filesystem::exists(watch.model))
    throw WatchError("model", "the model that measured what is stored, '" + watch.model + "', is not there any more");
  Camera camera{.name = cameraName(said), .said = said};
  camera.session = sessionOptions(watch);
  camera.watch = cameraPlan(watch);
  camera.files = namedFiles(said);
  // Pictures of an archive are far apart, and after a kill some are left out.
  if (camera.watch.archive) camera.session.choose_reuse = false;
  return camera;
}

void checkWatch(const Watch& watch) {
  if (watch.source.empty())
    throw WatchError("source", "no source: name a camera, a URL, a video or a folder of images");
  try {
    vision::checkSource(vision::parseSourceSpec(watch.source));  // no retry can mend these
  } catch (const Error& error) {
    throw WatchError("source", error.what());
  }
  if (watch.db.empty()) throw WatchError("db", "no database: name the file to write");
  if (!watch.snapshots.empty()) return;
  for (const auto& [key, said] : {std::pair("snapshot-every", watch.snapshot_every.has_value()),
                                  {"merge-maps", watch.merge_maps},
                                  {"keep-snapshots", watch.keep_snapshots.has_value()},
                                  {"min-free", watch.min_free.has_value()}})
    if (said) throw WatchError(key, "needs 'snapshots', the folder of the pictures");
}

}  // namespace mpm::monitor
