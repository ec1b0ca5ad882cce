// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "monitor/store/sample_rows.h"
#include "monitor/store/schema.h"
#include "monitor/store/store_reader.h"

namespace mpm::monitor {

/// First and last time of rows, both inclusive.
struct Extent {
  UnixMs first = 0, last = 0;
};

/// The times that are believed of a camera: a clock that nobody has set shows less, and none shows what is to come.
struct BelievedTimes {
  explicit BelievedTimes(UnixMs now) : to(now + kMinuteMs) {}
  bool has(UnixMs time) const { return from <= time && time < to; }

  UnixMs from = 1'577'836'800'000;  ///< 2020-01-01
  UnixMs to;                        ///< exclusive
};

/// How samples of a source were meant to come.
struct Meant {
  bool archive = false;
  std::vector<std::pair<UnixMs, double>> every_s{};  // of a camera: from the beginning of each session on

  /// At the end of a stretch of this width; 0: as they liked.
  double everyAt(UnixMs start, UnixMs width) const;
};

struct StoredMoment;  // of outages.cpp

/// The connection of a reader and the questions that its methods share.
struct StoreReader::Impl {
  Database database;
  std::string path;
  std::optional<FileIdentity> identity;
  std::optional<ConvertedFrom> converted;  // the file has an older schema, and this is a copy

  std::string sourceName(std::int64_t source) const;
  std::vector<std::int64_t> seriesOf(std::int64_t source) const;  // as StoreReader::series()

  // First and last time of these rows; two queries, because each reads one end of the index.
  template <typename... Values>
  std::optional<Extent> extentOf(const std::string& time, const std::string& from, const Values&... values) const {
    const std::string all = "(" + time + ") FROM " + from + ")";
    Statement row = database.prepare("SELECT (SELECT min" + all + ", (SELECT max" + all);
    row.bind(values...).step();
    if (row.isNull(0)) return std::nullopt;
    constexpr UnixMs kFar = 253'402'300'800'000;  // the year 10000
    const Extent extent{row.integer(0), row.integer(1)};
    for (const UnixMs end : {extent.first, extent.last})
      if (end > kFar || end < -kFar) row.refuse("a sample has the time " + std::to_string(end) + " ms");
    return extent;
  }
  // Of the times in [from, to): of samples, and of whole sums where those of their time are forgotten.
  std::optional<Extent> extent(std::int64_t source, UnixMs from = INT64_MIN, UnixMs to = INT64_MAX) const;

  // Its times say nothing about the clock of this machine: an archive or a scene.
  bool ownClock(std::int64_t source) const;
  // As SourceRecord::first and ::last.
  std::optional<Extent> believedExtent(std::int64_t source, UnixMs now = unixNow()) const;

  // Samples in [from, to), which lies where all are kept; of one series or of all. Reads the sums of
  // kBucketWidths[level] that lie within, and finer ones at its ends.
  std::int64_t count(std::int64_t source, UnixMs from, UnixMs to, std::optional<std::int64_t> series,
                     std::size_t level) const;
  // Samples in [from, to), counted one by one up to `limit`; of one series or of all.
  std::int64_t countSamples(std::int64_t source, UnixMs from, UnixMs to, std::int64_t limit,
                            std::optional<std::int64_t> series = {}) const;

  void visit(std::int64_t source, UnixMs from, UnixMs to, SampleRows::With with, std::optional<std::int64_t> series,
             const std::function<bool(Sample&)>& visit) const;

  class SumReader;
  std::vector<RollupRow> rollup(const RollupQuery& query) const;
  // As that; `names`: regionNames().
  std::vector<RollupRow> rollup(const RollupQuery& query, const SumReader& reader,
                                const std::map<std::int64_t, std::string>& names) const;
  // `now`: as of sources().
  Meant meant(std::int64_t source, UnixMs now) const;

  Pace pace(std::int64_t source) const;
  // From when on no sample was forgotten.
  UnixMs samplesKeptFrom(std::int64_t source) const;
  // What is looked at for the outages of [from, to), which lies within; `believed`: of the source.
  Extent aroundSpan(std::int64_t source, bool archive, const Extent& believed, UnixMs from, UnixMs to) const;
  // The hours of [from, to), the first one as a whole, of one series after the other.
  void eachHour(std::int64_t source, UnixMs from, UnixMs to,
                const std::function<void(const RollupRow& row, const DayNightSums& whole)>& visit) const;
  // What [from, to) has of a source; without `pictures` the times alone.
  std::vector<StoredMoment> moments(std::int64_t source, UnixMs from, UnixMs to, bool pictures) const;
  // As StoreReader::outages(); without `pictures` the gaps alone, which costs less.
  std::vector<Outage> outages(std::int64_t source, UnixMs from, UnixMs to, std::optional<UnixMs> now,
                              bool pictures) const;

  // Names by id of the regions of the source of a series, but for ignored ones; "" for the whole picture, 0.
  std::map<std::int64_t, std::string> regionNames(std::int64_t source) const;
};

/// Times of events of a kind that are warnings, in [from, to), ascending.
std::vector<UnixMs> warningsOf(const Database& database, std::int64_t source, EventKind kind, UnixMs from, UnixMs to);

/// A condition for rows of `sample`, with the parameters source, from and to; and with that of a series.
std::string samplesWhere(const std::optional<std::int64_t>& series);

}  // namespace mpm::monitor
