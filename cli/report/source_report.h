// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <future>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/store/averages.h"
#include "monitor/store/store_reader.h"
#include "vision/camera_clock.h"

namespace mpm::cli {

/// What of a source a report is about.
struct ReportScope {
  double days = 0;                             ///< the last ones; 0: all
  int series = 0;                              ///< SeriesRecord::number; 0: the latest
  std::optional<vision::CameraClock> clock{};  ///< nullopt: that of the source
};

struct Span {
  UnixMs from = 0, to = 0;  ///< [from, to)
};

/// How long one series was measured without an hour that only has others in between.
struct Stretch {
  monitor::SeriesRecord series{};
  UnixMs from = 0, to = 0;  ///< of its first and of its last sample; where these are forgotten, of their hours
  std::int64_t samples = 0;
};

/// The numbers of a series of a source over a period.
struct SourceReport {
  /// `outages`: they are wanted, too.
  SourceReport(const monitor::StoreReader& store, const monitor::SourceRecord& record, const ReportScope& scope,
               bool outages);

  monitor::SourceRecord source;
  vision::CameraClock clock;  ///< as the scope says, else as its source has it
  std::vector<monitor::SeriesRecord> all_series;
  monitor::SeriesRecord series;
  /// Up to the last sample of the source; of a series that was asked for by its number, up to the last one of that.
  Span span;
  Span measured;  ///< of the series: the part of `span` from its first to its last sample, where it has any there
  /// Of what happened to the source in this time: it ends later than `span` where samples are awaited.
  UnixMs known_until = 0;
  UnixMs last = 0;  ///< sample of the series; of its latest one that keeps any, unless a series was asked for
  std::vector<Stretch> stretches;
  std::set<std::string> night_rules;  ///< StoreReader::nightRules() of `measured`; "": none
  monitor::DayNightStatistics statistics;
  std::int64_t samples = 0;  ///< of the series, kept one by one in the span
  /// Samples with tokens that know day and night, and the days of the camera on which they were taken.
  std::int64_t comparable_samples = 0, comparable_days = 0;
  std::vector<monitor::RegionMeans> regions;  ///< the first is the whole picture
  std::vector<monitor::StateSeries> states;
  std::vector<monitor::Outage> outages{};  ///< of the source
  std::optional<UnixMs> awaited{};         ///< SourceRecord::awaited; nullopt also where `span` ends earlier

  /// The source gave no sample yet, so `span` has no dates.
  bool empty() const { return source.empty(); }
  /// Nothing of the source is later than `span`.
  bool upToNow() const { return span.to > source.last; }
  /// The mean of a quantity, and the areas, of the whole picture.
  monitor::Spread value(std::string_view key) const;
  std::vector<monitor::ClassArea> areas() const;
  /// Samples of the series that the means know, also those that are not kept one by one any more.
  std::int64_t summed() const;
  /// How many pictures have this flag.
  std::int64_t flagged(std::string_view key) const;
};

/// Makes the reports of these sources, several at a time: each by a reader of its own. `store` makes that of a single
/// source, and all where each reader would have to convert the file.
class SourceReports {
 public:
  /// The first two are read until the end. `database`: the path of `store`.
  SourceReports(const monitor::StoreReader& store, const std::vector<monitor::SourceRecord>& sources,
                std::string database, ReportScope scope, bool outages);

  /// That of the next source. Throws mpm::Error as SourceReport().
  SourceReport next();

 private:
  const monitor::StoreReader& store_;
  const std::vector<monitor::SourceRecord>& sources_;
  const std::string database_;
  const ReportScope scope_;
  const bool outages_;
  std::size_t taken_ = 0, begun_ = 0;
  std::deque<std::future<SourceReport>> running_;  // last: they end before what they read goes
};

/// How a series was measured with its model: "mpm:blocks=2,5, refine=guided".
std::string reductionText(const monitor::SeriesRecord& series);
/// When it is night: "the sun is below -6 degrees at ...".
std::string nightText(const SourceReport& report);
/// What a text about these numbers has to say of how they were made.
std::string methodsText(const SourceReport& report);

}  // namespace mpm::cli
