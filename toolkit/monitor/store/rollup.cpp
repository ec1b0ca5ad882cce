// SPDX-License-Identifier: Apache-2.0
// Sums and means over time: of one series, from the coarsest stored sums that lie within the span, and at its ends from
// the samples.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "monitor/pace.h"
#include "monitor/store/kept.h"
#include "monitor/store/store_reader_impl.h"
#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

// Sums and samples that a chart may read: some 30 ms of work.
constexpr std::int64_t kMaxRows = 20000, kMaxSamples = 4000;

// Widths that people read off an axis.
constexpr std::array kWidths = {kSecondMs,      2 * kSecondMs,  5 * kSecondMs, 10 * kSecondMs, 15 * kSecondMs,
                                30 * kSecondMs, kMinuteMs,      2 * kMinuteMs, 5 * kMinuteMs,  10 * kMinuteMs,
                                15 * kMinuteMs, 30 * kMinuteMs, kHourMs,       2 * kHourMs,    3 * kHourMs,
                                6 * kHourMs,    12 * kHourMs,   kDayMs,        2 * kDayMs,     7 * kDayMs,
                                14 * kDayMs,    28 * kDayMs,    364 * kDayMs};

// The narrowest width with at most `buckets` over [from, to), not below `least`, whose multiple it is.
std::int64_t widthFor(UnixMs from, UnixMs to, std::int64_t least, int buckets, const vision::CameraClock& clock) {
  const auto needed = [&](std::int64_t width) {
    const bool by_clock = width > kHourMs;  // as RowTimes
    const UnixMs first = by_clock ? clock.wall(from) : from, last = by_clock ? clock.wall(to - 1) : to - 1;
    return bucketStart(last, width) / width - bucketStart(first, width) / width + 1;
  };
  for (std::int64_t width : kWidths)
    if (width >= least && needed(width) <= buckets) return width;
  std::int64_t width = kWidths.back();
  while (needed(width) > buckets) width *= 2;
  return width;
}

// The first bucket of this width that begins at `time` or later.
UnixMs bucketFrom(UnixMs time, std::int64_t width) {
  const UnixMs start = bucketStart(time, width);
  return start == time ? start : start + width;
}

// Cuts time into rows of one width. Up to an hour they begin at its whole multiples since 1970; wider ones where the
// clock of the camera shows such a multiple, so that days are its days and last 23 to 25 hours. Width 0: one row of
// all.
class RowTimes {
 public:
  RowTimes(std::int64_t width, vision::CameraClock clock) : width_(width), clock_(std::move(clock)) {}

  // Start of the row in which `time` lies, and of the one behind it. Those of a time near the one before cost nothing.
  UnixMs start(UnixMs time) {
    find(time);
    return start_;
  }
  UnixMs end(UnixMs time) {
    find(time);
    return end_;
  }

 private:
  void find(UnixMs time) {
    if (start_ <= time && time < end_) return;
    if (width_ == 0) {
      start_ = INT64_MIN;
      end_ = INT64_MAX;
    } else if (width_ <= kHourMs) {
      start_ = bucketStart(time, width_);
      end_ = start_ + width_;
    } else {
      // Where the clock is changed, what it shows may lie on the other side of the start of a row.
      UnixMs wall = bucketStart(clock_.wall(time), width_);
      while (clock_.time(wall) > time) wall -= width_;
      while (clock_.time(wall + width_) <= time) wall += width_;
      start_ = clock_.time(wall);
      end_ = clock_.time(wall + width_);
    }
  }

  std::int64_t width_;
  vision::CameraClock clock_;
  UnixMs start_ = 0, end_ = 0;
};

using SumsById = std::map<std::int64_t, DayNightSums>;  // by region

}  // namespace

// Reads sums of the series of one source. Its levels are looked at once.
class StoreReader::Impl::SumReader {
 public:
  SumReader(const Impl& impl, std::int64_t source)
      : impl_(impl), source_(source), kept_from_(keptFrom(impl.database, source)) {}

  // Whether nothing that came at `time` or later has been forgotten at this level.
  bool isComplete(std::size_t level, UnixMs time) const { return completeFrom(level) <= time; }
  UnixMs completeFrom(std::size_t level) const { return kept_from_[level]; }

  struct Rows {
    std::int64_t series = 0;
    bool regions = false;
    RowTimes times;
    UnixMs to = INT64_MAX;              // no row begins there or later
    std::map<UnixMs, SumsById> sums{};  // by the start of the row
  };

  // Adds what is stored in [from, to), from sums of this level on.
  void read(Rows& rows, UnixMs from, UnixMs to, std::size_t level) const {
    if (from >= to) return;
    if (level == kSampleLevel) return readSamples(rows, from, to);
    const std::int64_t width = kBucketWidths[level - 1];
    UnixMs begin = bucketFrom(from, width), end = bucketStart(to, width);
    if (!isComplete(level - 1, from)) begin = bucketStart(from, width);
    if (end < to && !isComplete(level - 1, end)) end += width;
    if (begin >= end) return read(rows, from, to, level - 1);
    read(rows, from, begin, level - 1);
    // A sum that lies in two rows is made of finer ones; where these are forgotten, it is one of the row in which its
    // middle lies.
    std::vector<std::pair<UnixMs, UnixMs>> cut;
    readSums(rows, level, begin, end, cut);
    for (const auto& [cut_from, cut_to] : cut) read(rows, cut_from, cut_to, level - 1);
    read(rows, end, to, level - 1);
  }

 private:
  void readSamples(Rows& rows, UnixMs from, UnixMs to) const {
    using enum SampleRows::With;
    impl_.visit(source_, from, to, rows.regions ? kRegions : kWhole, rows.series, [&](const Sample& sample) {
      SumsById& sums = rows.sums[rows.times.start(sample.time)];
      for (const RegionSample& region : sample.regions)
        if (countsIn(sample, region)) sums[region.region].of(sideOf(sample.night)).add(sample, region);
      return true;
    });
  }

  // `cut`: gets the stretches of sums that lie in two rows, those side by side as one.
  void readSums(Rows& rows, std::size_t level, UnixMs from, UnixMs to,
                std::vector<std::pair<UnixMs, UnixMs>>& cut) const {
    const std::int64_t width = kBucketWidths[level - 1];
    Statement stored = impl_.database.prepare(
        std::string("SELECT start_ms, region, night, samples, sums FROM bucket WHERE series = ? AND width_ms = ? AND"
                    " start_ms >= ? AND start_ms < ?") +
        (rows.regions ? "" : " AND region = 0") + " ORDER BY start_ms");
    stored.bind(rows.series, width, from, to);
    while (stored.step()) {
      const UnixMs start = stored.integer(0);
      if (rows.times.end(start) < start + width && isComplete(level - 1, start)) {
        if (cut.empty() || cut.back().second < start) cut.emplace_back(start, start + width);
        cut.back().second = start + width;
      } else {
        const UnixMs middle = std::min(start + (width - 1) / 2, rows.to - 1);
        rows.sums[rows.times.start(middle)][stored.integer(1)].of(sideIn(stored, 2)).add(Bucket(stored, 3));
      }
    }
  }

  const Impl& impl_;
  std::int64_t source_;
  KeptFrom kept_from_;
};

namespace {

// The coarsest level of whose sums rows of this width are made where these do not lie in two of them; 0: one row of
// all.
std::size_t levelFor(std::int64_t width) {
  std::size_t level = kLevels - 1;
  while (width != 0 && level > kSampleLevel && width % kBucketWidths[level - 1] != 0) --level;
  return level;
}

}  // namespace

Bucket DayNightSums::all() const {
  Bucket all;
  for (const Bucket& side : sides) all.add(side);
  return all;
}

Spread DayNightSums::spread(const std::string& quantity) const {
  Spread all;
  for (const Bucket& side : sides) addTo(all, side.spread(quantity));
  return all;
}

Spread DayNightSums::area(int label) const {
  Spread all;
  for (const Bucket& side : sides) addTo(all, side.area(label));
  return all;
}

std::vector<RollupRow> StoreReader::rollup(const RollupQuery& query) const { return impl_->rollup(query); }

std::vector<RollupRow> StoreReader::Impl::rollup(const RollupQuery& query) const {
  const std::int64_t source = database.integer("SELECT source FROM series WHERE id = ?", query.series);
  return rollup(query, SumReader(*this, source), regionNames(source));
}

std::vector<RollupRow> StoreReader::Impl::rollup(const RollupQuery& query, const SumReader& reader,
                                                 const std::map<std::int64_t, std::string>& names) const {
  const std::int64_t source = database.integer("SELECT source FROM series WHERE id = ?", query.series);
  const std::optional<Extent> all = extent(source);
  if (!all) return {};
  const UnixMs from = std::max(query.from, all->first), to = std::min(query.to, all->last + 1);
  SumReader::Rows rows{.series = query.series, .regions = query.regions, .times = {query.width, query.clock}, .to = to};
  reader.read(rows, from, to, levelFor(query.width));
  std::vector<RollupRow> result;
  for (auto& [start, regions] : rows.sums) {
    RollupRow& row = result.emplace_back(RollupRow{.start = query.width == 0 ? query.from : start});
    row.end = query.width == 0 ? query.to : rows.times.end(start);
    for (auto& [id, sums] : regions) {
      const auto name = names.find(id);
      if (name == names.end()) continue;
      const auto [region, first] = row.regions.try_emplace(name->second, std::move(sums));
      if (first) continue;
      for (const Side side : {Side::kDay, Side::kNight, Side::kUnknown}) region->second.of(side).add(sums.of(side));
    }
  }
  return result;
}

namespace {

// Reads values out of the rows of a series: a class has its number in it.
class KeyReader {
 public:
  explicit KeyReader(const SeriesRecord& series) {
    for (std::size_t c = 0; c < series.classes.size(); ++c) numbers_.emplace(series.classes[c], static_cast<int>(c));
  }

  Spread read(const RollupRow& row, const SeriesKey& key) const {
    const auto region = row.regions.find(key.region);
    if (region == row.regions.end()) return {};
    return key.night ? read(region->second.of(sideOf(key.night)), key) : read(region->second, key);
  }

 private:
  template <typename Sums>
  Spread read(const Sums& sums, const SeriesKey& key) const {
    if (!key.quantity.empty()) return sums.spread(key.quantity);
    const auto label = numbers_.find(key.class_name);
    return label == numbers_.end() ? Spread() : sums.area(label->second);
  }

  std::unordered_map<std::string_view, int> numbers_;
};

bool anyRegion(const std::vector<SeriesKey>& keys) {
  return std::ranges::any_of(keys, [](const SeriesKey& one) { return !one.region.empty(); });
}

}  // namespace

std::vector<Spread> StoreReader::means(const SeriesRecord& series, UnixMs from, UnixMs to,
                                       const std::vector<SeriesKey>& keys) const {
  const KeyReader values(series);
  std::vector<Spread> all(keys.size());
  const std::int64_t source = impl_->database.integer("SELECT source FROM series WHERE id = ?", series.id);
  const auto believed = impl_->believedExtent(source);
  if (!believed) return all;
  from = std::max(from, believed->first);
  to = std::min(to, believed->last + 1);
  for (const RollupRow& row : rollup({.series = series.id, .from = from, .to = to, .regions = anyRegion(keys)}))
    std::ranges::transform(keys, all.begin(), [&](const SeriesKey& key) { return values.read(row, key); });
  return all;
}

Chart StoreReader::chart(const ChartQuery& query) const {
  if (query.max_buckets < 2) throw Error("a chart needs at least 2 buckets");
  const std::optional<Extent> all = impl_->believedExtent(query.source);
  if (!all) return {};
  const UnixMs from = std::max(query.from, all->first), to = std::min(query.to, all->last + 1);
  if (from >= to) return {};

  const Impl::SumReader reader(*impl_, query.source);
  const bool few = impl_->countSamples(query.source, from, to, kMaxSamples + 1) <= kMaxSamples;
  std::int64_t least = kDayMs;
  if (few && reader.isComplete(kSampleLevel, from)) {
    least = kSecondMs;
  } else {
    for (std::size_t level = 1; level + 1 < kLevels; ++level) {
      if (const std::int64_t width = kBucketWidths[level - 1];
          reader.isComplete(level, from) && (to - from) / width <= kMaxRows) {
        least = width;
        break;
      }
    }
  }
  Chart chart;
  chart.bucket_ms = widthFor(from, to, std::max(least, query.least_ms), query.max_buckets, query.clock);

  const bool regions = anyRegion(query.series);
  const auto names = impl_->regionNames(query.source);
  std::map<UnixMs, ChartBucket> buckets;
  std::map<UnixMs, UnixMs> ends;  // of the buckets: days of the camera differ in length
  std::vector<SeriesRecord> all_series = series(query.source);
  if (query.only) std::erase_if(all_series, [&](const SeriesRecord& one) { return one.id != *query.only; });
  std::ranges::reverse(all_series);  // the latest one first: what it knows is not looked for in others
  for (const SeriesRecord& one : all_series) {
    const KeyReader values(one);
    const RollupQuery of_one{
        .series = one.id, .from = from, .to = to, .width = chart.bucket_ms, .clock = query.clock, .regions = regions};
    for (const RollupRow& row : impl_->rollup(of_one, reader, names)) {
      ChartBucket& bucket = buckets[row.start];
      bucket.start = row.start;
      bucket.middle = std::midpoint(std::max(row.start, from), std::min(row.end, to));
      ends[row.start] = row.end;
      bucket.values.resize(query.series.size());
      bucket.series.push_back(one.id);
      if (const auto whole = row.regions.find(""); whole != row.regions.end() && bucket.samples == 0) {
        const auto samples = [&](Side side) { return whole->second.of(side).samples; };
        const std::int64_t day = samples(Side::kDay), night = samples(Side::kNight);
        bucket.samples = day + night + samples(Side::kUnknown);
        if (day + night > 0) bucket.night = static_cast<double>(night) / static_cast<double>(night + day);
      }
      for (std::size_t q = 0; q < query.series.size(); ++q)
        if (bucket.values[q].samples == 0) bucket.values[q] = values.read(row, query.series[q]);
    }
  }
  for (auto& [start, bucket] : buckets) chart.buckets.push_back(std::move(bucket));
  const Meant meant = impl_->meant(query.source, unixNow());
  std::vector<StoredStep> steps;
  for (std::size_t i = 1; i < chart.buckets.size(); ++i) {
    const ChartBucket& before = chart.buckets[i - 1];
    const UnixMs step = chart.buckets[i].start - ends[before.start] + chart.bucket_ms;
    steps.push_back({static_cast<double>(step) / kSecondMs, static_cast<double>(before.samples),
                     meant.everyAt(chart.buckets[i].start, chart.bucket_ms),
                     static_cast<double>(chart.bucket_ms) / kSecondMs});
  }
  const auto gaps = findGaps(steps, usualSteps(steps), meant.archive);
  for (std::size_t i = 0; i < gaps.size(); ++i) chart.buckets[i + 1].gap_before = gaps[i];
  return chart;
}

std::vector<HourOfTokens> StoreReader::hoursOfTokens(std::int64_t series, UnixMs from, UnixMs to) const {
  const std::int64_t source = impl_->database.integer("SELECT source FROM series WHERE id = ?", series);
  const std::optional<Extent> all = impl_->extent(source);
  if (!all) return {};
  from = std::max(from, all->first);
  to = std::min(to, all->last + 1);
  const Impl::SumReader reader(*impl_, source);
  std::vector<HourOfTokens> hours;
  const auto add = [&](UnixMs start, bool night, const TokenCounts& counts) {
    auto& occurrences = hours.emplace_back(HourOfTokens{.start = start, .night = night}).occurrences;
    for (const auto& [tenths, count] : counts) occurrences.emplace_back(tenths / 10.0, count);
  };
  const auto addSamples = [&](UnixMs begin, UnixMs end) {
    if (begin >= end) return;
    std::map<std::pair<UnixMs, bool>, TokenCounts> counts;  // start, night
    impl_->visit(source, begin, end, SampleRows::With::kWhole, series, [&](const Sample& sample) {
      if (const auto tenths = tenthsOfTokens(sample); tenths && sample.night)
        ++counts[{bucketStart(sample.time, kHourMs), *sample.night}][*tenths];
      return true;
    });
    for (const auto& [hour, of_hour] : counts) add(hour.first, hour.second, of_hour);
  };
  UnixMs begin = bucketFrom(from, kHourMs), end = bucketStart(to, kHourMs);
  if (!reader.isComplete(kSampleLevel, from)) begin = bucketStart(from, kHourMs);
  if (end < to && !reader.isComplete(kSampleLevel, end)) end += kHourMs;
  if (begin >= end) {
    addSamples(from, to);
    return hours;
  }
  addSamples(from, begin);
  Statement rows = impl_->database.prepare(
      "SELECT start_ms, night, tokens FROM bucket WHERE series = ? AND width_ms = ? AND start_ms >= ? AND start_ms < ?"
      " AND region = 0 AND tokens IS NOT NULL ORDER BY start_ms, night");
  rows.bind(series, kHourMs, begin, end);
  while (rows.step()) {
    if (const Side side = sideIn(rows, 1); side != Side::kUnknown) {
      TokenCounts counts;
      addTokenCounts(rows, 2, counts);
      add(rows.integer(0), side == Side::kNight, counts);
    }
  }
  addSamples(end, to);
  return hours;
}

DayNightStatistics StoreReader::dayNight(std::int64_t series, UnixMs from, UnixMs to) const {
  const auto hours = hoursOfTokens(series, from, to);
  const std::int64_t source = impl_->database.integer("SELECT source FROM series WHERE id = ?", series);
  UnixMs now = std::numeric_limits<UnixMs>::min();
  if (const auto extent = impl_->extent(source, from, to)) now = std::min(to, extent->last + 1);
  DayNightStatistics statistics = compareDayNight(hours, now);
  // Of flagged pictures, too: a night that shows nothing is one.
  if ((statistics.day.samples == 0) != (statistics.night.samples == 0)) {
    for (const RollupRow& row : rollup({.series = series, .from = from, .to = to})) {
      if (const auto whole = row.regions.find(""); whole != row.regions.end()) {
        const Spread brightness = whole->second.spread("brightness");
        const Side other = statistics.day.samples == 0 ? Side::kDay : Side::kNight;
        if (brightness.samples > 0 && whole->second.of(other).spread("brightness").samples == 0)
          statistics.brightness.emplace(brightness.min, brightness.max);
      }
    }
  }
  // Yesterday is another day than today also where less than two of them are asked for.
  if (constexpr UnixMs kSpan = 2 * kDayMs + kHourMs; now >= kSpan && from > now - kSpan) {
    const DayNightStatistics recent = compareDayNight(hoursOfTokens(series, now - kSpan, to), now);
    if (statistics.day.samples > 0) statistics.day_change = recent.day_change;
    if (statistics.night.samples > 0) statistics.night_change = recent.night_change;
  }
  return statistics;
}

UnixMs StoreReader::Impl::samplesKeptFrom(std::int64_t source) const {
  return keptFrom(database, source)[kSampleLevel];
}

}  // namespace mpm::monitor
