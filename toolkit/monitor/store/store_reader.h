// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "charts/draw_chart.h"
#include "monitor/pace.h"
#include "monitor/store/outage.h"
#include "monitor/store/records.h"
#include "monitor/store/rollup.h"
#include "mpm/error.hpp"

namespace mpm::monitor {

using charts::Chart, charts::ChartBucket, charts::SeriesKey;

/// From when on which state of a head counted, ascending; "": none. The first may have begun before.
using StateChanges = std::vector<std::pair<UnixMs, std::string>>;

/// The states that counted, of one head.
struct StateSeries {
  std::string name{};
  StateChanges changes{};
  /// That are kept, by the state that counted.
  std::map<std::string, std::int64_t, std::less<>> samples{};
  std::int64_t sure = 0;          ///< of them, those whose result was sure
  std::set<std::string> known{};  ///< that ever counted of this head of the source
};

struct ChartQuery {
  std::int64_t source = 0;          ///< SourceRecord::id
  UnixMs from = 0, to = 0;          ///< [from, to)
  std::vector<SeriesKey> series{};  ///< quantities, classes and regions to draw
  int max_buckets = 2000;
  std::int64_t least_ms = 0;    ///< no bucket is narrower; kDayMs: whole days
  vision::CameraClock clock{};  ///< of the camera: where buckets wider than an hour begin
  /// SeriesRecord::id. nullopt: each value of a bucket comes from the latest series that has samples in that bucket, so
  /// that a chart goes on where the model was changed.
  std::optional<std::int64_t> only{};
};

/// Gaps that lie in a span, or reach into it. Of each counts the part within: the time between two samples.
struct Gaps {
  int count = 0;
  UnixMs longest = 0, total = 0;
};

/// A database file without tables: its writer is about to create them, or was stopped before.
class EmptyDatabase : public Error {
 public:
  using Error::Error;
};

/// The last sample of a source: StoreReader::lastSample().
struct LastSample {
  SeriesRecord series{};
  Sample sample{};
};

/// Reads a database, also while another process writes it; never changes it. Not thread-safe: one per thread.
class StoreReader {
 public:
  /// Throws mpm::Error naming the file: none there, not a database of ours, of another schema version.
  explicit StoreReader(const std::string& path);
  ~StoreReader();
  StoreReader(StoreReader&&) noexcept;
  StoreReader& operator=(StoreReader&&) noexcept;

  /// What is read later than this, of steadyNow(), throws mpm::Error: the file of another person may hold more than
  /// anybody waits for.
  void setDeadline(std::int64_t steady);

  /// The name of the database: 16 hexadecimal digits. A copy has the same. Empty if only version 0.1.0 wrote it.
  std::string id() const;
  /// `now`: the clock against which times in the future are not believed.
  std::vector<SourceRecord> sources(UnixMs now = unixNow()) const;
  std::vector<SessionRecord> sessions(std::int64_t source) const;  ///< ascending
  /// Its last session has not ended: it is watched, or the program that watched it was killed.
  bool running(std::int64_t source) const;
  /// All series of a source, ordered by their latest session; the last one is being measured, or was measured last.
  std::vector<SeriesRecord> series(std::int64_t source) const;
  /// With which a session that is measured like this goes on; nullopt: it begins a new one.
  std::optional<std::int64_t> seriesOf(std::int64_t source, const Measuring& measuring) const;

  /// The view of the source with this name; nullopt: not stored.
  std::optional<ViewReference> view(const std::string& source) const;
  /// Since when the view of a source has been the one that it was at a time: since its first sample, or a large motion.
  UnixMs viewSince(const SourceRecord& source, UnixMs time) const;
  /// What must not be seen of it, PrivacyOptions::json(); "": nothing, or it is not stored.
  std::string privacy(const std::string& source) const;

  /// The regions that the source with this name has, or had, by id; none where it is not stored.
  std::vector<RegionRecord> regions(const std::string& source) const;

  /// The states of each head that was read in [from, to), by name.
  std::vector<StateSeries> states(std::int64_t series, UnixMs from, UnixMs to) const;
  /// The changes alone of each of these heads, by name.
  std::map<std::string, StateChanges> stateChanges(std::int64_t series, UnixMs from, UnixMs to) const;
  /// Those of the time of a chart, the answer to `query`, which goes on where the model was changed: in each bucket
  /// they are of the latest series that has a sample there and any state of that head.
  std::map<std::string, StateChanges> stateChanges(const Chart& chart, const ChartQuery& query) const;
  /// The states that ever counted of each head of a source, in any series, by the name of the head.
  std::map<std::string, std::set<std::string>> knownStates(std::int64_t source) const;

  /// The rows that have samples, ascending. Exact also where a row, or [from, to), begins or ends within a stored sum,
  /// as long as its samples are kept; else with all of that minute, hour or day.
  std::vector<RollupRow> rollup(const RollupQuery& query) const;

  /// What a chart of one bucket for all of [from, to) has, of one series.
  std::vector<Spread> means(const SeriesRecord& series, UnixMs from, UnixMs to,
                            const std::vector<SeriesKey>& keys) const;
  /// At most max_buckets buckets with mean, min and max, from the finest stored resolution (sample, minute, hour, day)
  /// that needs no more than some ten thousand rows: a year opens in well under a second. They lie in
  /// SourceRecord::first to last.
  Chart chart(const ChartQuery& query) const;

  /// Where samples are missing in [from, to), by the pace of the source there: findGaps(). Samples that are forgotten,
  /// or more than 500,000, are looked at by hours. Before its first sample a source has no gap. With `now`, also the
  /// time from its last one on, unless it is alive.
  Gaps gaps(std::int64_t source, UnixMs from, UnixMs to, std::optional<UnixMs> now = {}) const;
  /// Each gap of gaps(), from a sample to the next, also where pictures between them were damaged.
  std::vector<Outage> eachGap(std::int64_t source, UnixMs from, UnixMs to, std::optional<UnixMs> now = {}) const;
  /// When the camera gave nothing that counts in [from, to), by their beginning: gaps() and samples of any series that
  /// show nothing. They do not overlap, but kMoved may lie within another one. Where samples are looked at by hours, an
  /// hour has a flag if more than half of its samples have it. None begins before SourceRecord::first.
  std::vector<Outage> outages(std::int64_t source, UnixMs from, UnixMs to, std::optional<UnixMs> now = {}) const;
  /// Until when a sample of a source is missed if none comes, for gaps() and outages(): `now` while a camera is
  /// watched. nullopt: nothing watches it, or its times are not those of this machine, as of an archive and of a scene.
  /// `watched`: where the caller knows it; else it is watched until its last session has ended.
  std::optional<UnixMs> awaited(std::int64_t source, UnixMs now, std::optional<bool> watched = {}) const;
  /// The pace of its last samples.
  Pace pace(std::int64_t source) const;

  /// The rules by which samples of a series in [from, to) may have been judged: those of its sessions that ran then or
  /// have samples there; of all, where none has. nullopt: one that is not known.
  std::set<std::optional<std::string>> nightRules(std::int64_t series, UnixMs from, UnixMs to) const;

  /// Every sample in [from, to), by time; `visit` returns false to stop. With `series` only those of it.
  void samples(std::int64_t source, UnixMs from, UnixMs to, const std::function<bool(const Sample&)>& visit,
               std::optional<std::int64_t> series = {}) const;
  /// Of those that are kept one by one, how many lie in [from, to), with `series` only those of it. Read from sums:
  /// takes less than a millisecond for a year.
  std::int64_t count(std::int64_t source, UnixMs from = INT64_MIN, UnixMs to = INT64_MAX,
                     std::optional<std::int64_t> series = {}) const;
  /// The last `limit` samples before `until`, ascending by time; more if several have the earliest of these times.
  std::vector<Sample> lastSamples(std::int64_t source, int limit, UnixMs until = INT64_MAX,
                                  std::optional<std::int64_t> series = {}) const;
  /// The last one of a series in SourceRecord::first to last, without its view_offset, which may have to be looked for
  /// far back; nullopt: none is kept one by one.
  std::optional<Sample> lastSample(const SourceRecord& source, std::int64_t series) const;
  /// Behind the last sample of a series; where it is forgotten, behind its hour or, if that is forgotten, its day.
  UnixMs endOf(const SourceRecord& source, std::int64_t series) const;
  /// The last one of the source: that of its latest series that keeps one. A later one of an older series, as of a
  /// picture that was deleted before the others were measured again, counts no more than in the numbers.
  /// `all`: series() of the source.
  std::optional<LastSample> lastSample(const SourceRecord& source, std::vector<SeriesRecord> all) const;
  /// Name, time and digest of each of a series.
  void pictures(std::int64_t series,
                const std::function<void(const std::string& name, UnixMs time, std::int64_t digest)>& visit) const;

  /// Where the alarms stand.
  std::vector<AlarmState> alarms(std::int64_t source) const;

  /// The latest `limit` in [from, to), ascending by time.
  std::vector<Event> events(std::int64_t source, UnixMs from, UnixMs to, int limit = 1000) const;

  /// What waits for a channel, by number; the first `limit` after a number.
  std::vector<Message> outbox(const std::string& channel, std::int64_t after, int limit) const;
  std::int64_t waiting() const;  ///< messages, for all channels
  /// What was announced, by topic.
  std::map<std::string, std::string> announced() const;

  /// Token counts of a series in [from, to), by hours: exact as rollup().
  std::vector<HourOfTokens> hoursOfTokens(std::int64_t series, UnixMs from, UnixMs to) const;
  /// compareDayNight() of them.
  DayNightStatistics dayNight(std::int64_t series, UnixMs from, UnixMs to) const;

  /// An earlier program wrote the file, so that this is a converted copy of it. To make one takes long of a large file.
  bool isCopy() const;

  /// False when this reader would miss what is written from now on: another file lies under the path, or the file was
  /// read as a read-only one. Then make a new reader.
  bool current() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The strips below a chart: StoreReader::stateChanges(), and the outages of its source where it has any. `known`:
/// StoreReader::knownStates() of the source, so that each state has its colour.
std::vector<charts::ChartBand> chartBands(const std::map<std::string, StateChanges>& states,
                                          const std::map<std::string, std::set<std::string>>& known,
                                          const std::vector<Outage>& outages);

/// The regions that samples to come are measured in.
std::vector<vision::Region> currentRegions(const StoreReader& store, const std::string& source);

}  // namespace mpm::monitor
