// SPDX-License-Identifier: Apache-2.0
#include "monitor/recompute.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "monitor/statistics/region_meter.h"
#include "monitor/store/bucket.h"
#include "monitor/store/database_lock.h"
#include "monitor/store/schema.h"
#include "monitor/store/store.h"
#include "mpm/error.hpp"
#include "vision/labels/classes.h"
#include "vision/sources/source.h"

namespace mpm::monitor {
namespace {

namespace fs = std::filesystem;

struct Stored {
  std::int64_t id, session;
  UnixMs time;
  std::string picture;
  std::optional<ViewMotion> motion;
};

std::string pathOf(const vision::SourceSpec& source, const std::string& picture) {
  const fs::path target = source.target;
  return ((source.kind == vision::SourceKind::kFolder ? target : target.parent_path()) / picture).string();
}

cv::Mat readPicture(const std::string& path) {
  try {
    if (fs::exists(path))
      if (auto frame = vision::openSource(path)->next()) return frame->image;
  } catch (const Error&) {
  }
  return {};
}

class Recomputation {
 public:
  Recomputation(const std::string& path, const vision::SourceSpec& source, const std::vector<vision::Region>& regions)
      : database_(openForWriting(path, false)), source_(source), meter_(regions) {
    const StoreReader reader(path);
    for (const SourceRecord& record : reader.sources())
      if (record.name == source.shownText()) record_ = record;
    for (const vision::Region& region : regions)
      for (const RegionRecord& one : reader.regions(record_.name))
        if (one.current && vision::regionJson(one.region) == vision::regionJson(region)) ids_.push_back(one.id);
    for (SessionRecord& session : reader.sessions(record_.id)) sessions_[session.id] = std::move(session);
  }

  std::vector<Stored> samples() const {
    std::vector<Stored> samples;
    Statement rows = database_.prepare(
        "SELECT id, session, time_ms, picture, moved_right, moved_down, turned, zoomed FROM sample"
        " WHERE source = ? AND picture <> '' ORDER BY time_ms");
    rows.bind(record_.id);
    while (rows.step()) {
      Stored& stored = samples.emplace_back();
      rows.read(stored.id, stored.session, stored.time, stored.picture);
      if (!rows.isNull(4)) stored.motion = ViewMotion{rows.real(4), rows.real(5), rows.real(6), rows.real(7)};
    }
    return samples;
  }

  void measure(const Stored& stored, Estimator& model, const std::string& digest, Recomputed& result) {
    const cv::Mat image = readPicture(pathOf(source_, stored.picture));
    if (image.empty()) {
      ++result.gone;
      return;
    }
    const SessionRecord& session = sessions_[stored.session];
    const bool same = session.model_digest == digest && session.reduce == toString(model.model().reduction);
    const Estimate estimate = same ? model.estimate(image) : Estimate();
    moved_ = stored.motion.value_or(moved_);
    const auto regions = meter_.measure(image, estimate.labels, estimate, stored.time, moved_);
    database_.prepare("DELETE FROM region_sample WHERE sample = ?").run(stored.id);
    Statement insert = database_.prepare(kInsertRegion);
    for (RegionSample region : regions) {
      region.region = ids_.at(static_cast<std::size_t>(region.region));
      insertRegion(insert, stored.id, region);
    }
    database_.prepare("UPDATE sample SET brightness = ? WHERE id = ?")
        .run(meanBrightness(image, meter_.counted()), stored.id);
    if (same)
      database_.prepare("UPDATE sample SET areas = ? WHERE id = ?")
          .run(areasJson(vision::classAreas(estimate.labels, meter_.counted())), stored.id);
    ++result.samples;
    if (!same) ++result.other_model;
  }

  // Of the stretches that have all their samples. Token counts are as they were.
  void sumUp() {
    const std::optional<UnixMs> first = firstKept();
    if (!first) return;
    for (const std::int64_t width : kBucketWidths) {
      const UnixMs start = bucketStart(*first, width);
      const UnixMs from = complete(start, width) ? start : start + width;
      database_.prepare("DELETE FROM bucket WHERE source = ? AND width_ms = ? AND start_ms >= ?")
          .run(record_.id, width, from);
      AggregateUpdate sums;
      Statement rows = database_.prepare(std::string("SELECT ") + kSampleColumns +
                                         " FROM sample WHERE source = ? AND time_ms >= ? ORDER BY time_ms, id");
      rows.bind(record_.id, from);
      Statement regions = database_.prepare(kRegionsOfSample);
      while (rows.step()) {
        Sample sample = readSample(rows);
        sample.regions = readRegions(regions, sample.id);
        sums.addTo(width, record_.id, sample.session, sample);
      }
      sums.write(database_);
    }
  }

  Database& database() { return database_; }

 private:
  std::optional<UnixMs> firstKept() const {
    Statement row = database_.prepare("SELECT min(time_ms) FROM sample WHERE source = ?");
    row.bind(record_.id).step();
    return row.isNull(0) ? std::nullopt : std::optional(row.integer(0));
  }

  bool complete(UnixMs start, std::int64_t width) const {
    return database_.integer(
        "SELECT (SELECT count(*) FROM sample WHERE source = ?1 AND time_ms >= ?2 AND time_ms < ?2 + ?3) ="
        " (SELECT total(samples) FROM bucket WHERE source = ?1 AND width_ms = ?3 AND start_ms = ?2 AND region = 0)",
        record_.id, start, width);
  }

  Database database_;
  const vision::SourceSpec& source_;
  RegionMeter meter_;
  ViewMotion moved_;  // of the last picture whose motion is known
  SourceRecord record_;
  std::vector<std::int64_t> ids_;  // of the regions, by index
  std::map<std::int64_t, SessionRecord> sessions_;
};

}  // namespace

Recomputed recomputeRegions(const std::string& database, const vision::SourceSpec& source,
                            const std::vector<vision::Region>& regions, Estimator& model,
                            const std::string& model_digest,
                            const std::function<bool(std::int64_t done, std::int64_t all)>& go_on) {
  vision::check(regions);
  const auto known = StoreReader(database).sources();
  if (std::none_of(known.begin(), known.end(),
                   [&](const SourceRecord& record) { return record.name == source.shownText(); }))
    throw Error("'" + database + "' holds no samples of '" + source.shownText() + "'");
  {
    StoreWriter writer(database);
    writer.setRegions(source.shownText(), regions);
    if (!writer.flush()) throw Error(writer.status().problem);
  }
  const DatabaseLock lock(database);
  Recomputation work(database, source, regions);
  const std::vector<Stored> samples = work.samples();
  Recomputed result;
  constexpr std::size_t kBatch = 100;
  bool wanted = true;
  for (std::size_t begin = 0; wanted && begin < samples.size(); begin += kBatch) {
    Transaction transaction(work.database());
    for (std::size_t i = begin; wanted && i < std::min(samples.size(), begin + kBatch); ++i) {
      work.measure(samples[i], model, model_digest, result);
      wanted = !go_on || go_on(static_cast<std::int64_t>(i) + 1, static_cast<std::int64_t>(samples.size()));
    }
    transaction.commit();
  }
  Transaction transaction(work.database());
  work.sumUp();
  transaction.commit();
  return result;
}

}  // namespace mpm::monitor
