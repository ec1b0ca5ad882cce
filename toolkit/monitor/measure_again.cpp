// SPDX-License-Identifier: Apache-2.0
#include "monitor/session.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include "monitor/store/schema.h"
#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

using namespace std::chrono_literals;

constexpr double kPatienceS = 60;  // at the end, for a disk that may not answer

std::vector<vision::Region> regionsOfArchive(const std::string& database, const std::string& source) {
  const StoreReader stored(database);
  const auto sources = stored.sources();
  const auto found = std::ranges::find(sources, source, &SourceRecord::name);
  if (found == sources.end()) throw Error("'" + database + "' holds no samples of '" + source + "'");
  if (!found->archive)
    throw Error("the pictures of '" + source +
                "' have no times of their own: only an archive of pictures with times can be measured again");
  return currentRegions(stored, source);
}

}  // namespace

std::optional<MeasuredAgain> measureAgain(SessionOptions options, WatchOptions watch,
                                          const std::function<bool(std::int64_t done, std::int64_t all)>& go_on) {
  const auto regions = regionsOfArchive(options.database, watch.source.name());
  if (!watch.regions) watch.regions = regions;
  const std::string path = options.database + "-again";
  { const DatabaseLock nobody_else(path); }
  removeDatabase(path);  // of a run that was killed
  options.database = path;
  options.snapshots = {};
  options.on_event = {};
  options.choose_reuse = false;
  options.store.keep_days = options.store.max_megabytes = 0;
  options.store.open_at_once = true;
  watch.every_frame = watch.samples_only = true;
  watch.max_fps = 0;
  if (!watch.archive) watch.archive.emplace();
  watch.archive->follow = watch.archive->show_last = false;

  MeasuredAgain result{.database = path};
  bool whole = false;
  try {
    std::mutex mutex;
    std::string problem;
    Session session(options, {.on_event = [&](const Event& event) {
                      const std::lock_guard lock(mutex);
                      if (event.severity == Severity::kError) problem = event.message;
                    }});
    session.open(watch);
    const auto lastProblem = [&] {
      const std::lock_guard lock(mutex);
      return problem;
    };
    while (!whole) {
      const SessionStatus now = session.status();
      if (!now.inference.loading && !now.inference.ready) throw Error(lastProblem());
      if (now.store->stopped) throw Error(now.store->problem);
      if (go_on && !go_on(now.stored, now.pictures)) break;
      whole = now.finished;
      if (!whole) std::this_thread::sleep_for(50ms);
    }
    const SessionStatus status = session.status();
    result.samples = status.stored;
    result.pictures = status.pictures;
    if (whole && result.samples == 0)
      throw Error(!status.source.message.empty() ? status.source.message
                  : !lastProblem().empty()       ? lastProblem()
                                                 : "there is no picture to measure");
    if (whole && (!session.finish(kPatienceS) || session.status().store->lost > 0))
      throw Error("not all of '" + path + "' could be written: " + session.status().store->problem);
  } catch (...) {
    removeDatabase(path);
    throw;
  }
  if (whole) return result;
  removeDatabase(path);
  return std::nullopt;
}

}  // namespace mpm::monitor
