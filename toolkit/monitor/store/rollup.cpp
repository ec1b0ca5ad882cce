// SPDX-License-Identifier: Apache-2.0
// Sums and means over time: of one series, from the coarsest stored sums that lie within the span, and at its ends from
// the samples.
#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>
#include <utility>

#include "monitor/pace.h"
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
std::int64_t widthFor(UnixMs from, UnixMs to, std::int64_t least, int buckets) {
  const auto needed = [&](std::int64_t width) {
    return bucketStart(to - 1, width) / width - bucketStart(from, width) / width + 1;
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

// What is stored of a source, by levels: its samples, then the sums of each of kBucketWidths. Retention forgets the
// oldest of a level; what was summed up of it stays in the next one.
constexpr std::size_t kSamples = 0, kLevels = kBucketWidths.size() + 1;

using SumsById = std::map<std::int64_t, DayNightSums>;  // by region

}  // namespace

// Reads sums of the series of one source. Its levels are looked at once.
class StoreReader::Impl::SumReader {
 public:
  SumReader(const Impl& impl, std::int64_t source) : impl_(impl), source_(source) {
    complete_from_.fill(std::numeric_limits<UnixMs>::min());
    if (impl.database.integer("SELECT archive FROM source WHERE id = ?", source) != 0) return;  // keeps everything
    for (std::size_t level = kLevels - 1; level-- > kSamples;) {
      complete_from_[level] = complete_from_[level + 1];
      const auto coarser = first(level + 1), mine = first(level);
      if (!coarser) continue;
      const UnixMs end = *coarser + kBucketWidths[level];
      if (!mine || *mine >= end || count(level, *coarser, end) != count(level + 1, *coarser, end))
        complete_from_[level] = mine.value_or(std::numeric_limits<UnixMs>::max());
    }
  }

  // Whether nothing that came at `time` or later has been forgotten at this level.
  bool isComplete(std::size_t level, UnixMs time) const { return complete_from_[level] <= time; }

  // Calls row_at(start) for the sums to which what is stored from `start` on is to be added, from the coarsest level on
  // whose multiple the rows of the caller are.
  void read(std::int64_t series, bool regions, UnixMs from, UnixMs to, std::size_t level,
            const std::function<SumsById&(UnixMs)>& row_at) const {
    if (from >= to) return;
    if (level == kSamples) return readSamples(series, regions, from, to, row_at);
    const std::int64_t width = kBucketWidths[level - 1];
    UnixMs begin = bucketFrom(from, width), end = bucketStart(to, width);
    if (!isComplete(level - 1, from)) begin = bucketStart(from, width);
    if (end < to && !isComplete(level - 1, end)) end += width;
    if (begin >= end) return read(series, regions, from, to, level - 1, row_at);
    read(series, regions, from, begin, level - 1, row_at);
    readRows(series, regions, width, begin, end, row_at);
    read(series, regions, end, to, level - 1, row_at);
  }

 private:
  std::optional<UnixMs> first(std::size_t level) const {
    if (level == kSamples) {
      const auto extent = impl_.sampleExtent(source_);
      return extent ? std::optional(extent->first) : std::nullopt;
    }
    std::optional<UnixMs> first;
    for (const std::int64_t series : impl_.seriesOf(source_))
      if (const auto extent = impl_.bucketExtent(series, kBucketWidths[level - 1]))
        first = std::min(first.value_or(extent->first), extent->first);
    return first;
  }

  std::int64_t count(std::size_t level, UnixMs from, UnixMs to) const {
    if (level == kSamples) return impl_.countSamples(source_, from, to, std::numeric_limits<std::int64_t>::max());
    return impl_.database.integer(
        "SELECT total(samples) FROM bucket WHERE series IN (SELECT id FROM series WHERE source = ?) AND width_ms = ?"
        " AND start_ms >= ? AND start_ms < ? AND region = 0",
        source_, kBucketWidths[level - 1], from, to);
  }

  void readSamples(std::int64_t series, bool regions, UnixMs from, UnixMs to,
                   const std::function<SumsById&(UnixMs)>& row_at) const {
    using enum SampleRows::With;
    impl_.visit(source_, from, to, regions ? kRegions : kWhole, series, [&](const Sample& sample) {
      SumsById& sums = row_at(sample.time);
      for (const RegionSample& region : sample.regions)
        if (region.region == 0 || !sample.flagged()) sums[region.region].of(sideOf(sample.night)).add(sample, region);
      return true;
    });
  }

  void readRows(std::int64_t series, bool regions, std::int64_t width, UnixMs from, UnixMs to,
                const std::function<SumsById&(UnixMs)>& row_at) const {
    Statement rows = impl_.database.prepare(
        std::string("SELECT start_ms, region, night, samples, sums FROM bucket WHERE series = ? AND width_ms = ? AND"
                    " start_ms >= ? AND start_ms < ?") +
        (regions ? "" : " AND region = 0") + " ORDER BY start_ms");
    rows.bind(series, width, from, to);
    while (rows.step()) row_at(rows.integer(0))[rows.integer(1)].of(sideIn(rows, 2)).add(Bucket(rows, 3));
  }

  const Impl& impl_;
  std::int64_t source_;
  std::array<UnixMs, kLevels> complete_from_{};
};

namespace {

// The coarsest level of whose sums rows of this width are made; 0: one row of all.
std::size_t levelFor(std::int64_t width) {
  std::size_t level = kLevels - 1;
  while (width != 0 && level > kSamples && width % kBucketWidths[level - 1] != 0) --level;
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

std::vector<RollupRow> StoreReader::rollup(const RollupQuery& query) const {
  const std::int64_t source = impl_->database.integer("SELECT source FROM series WHERE id = ?", query.series);
  return impl_->rollup(query, Impl::SumReader(*impl_, source), impl_->regionNames(source));
}

std::vector<RollupRow> StoreReader::Impl::rollup(const RollupQuery& query, const SumReader& reader,
                                                 const std::map<std::int64_t, std::string>& names) const {
  const std::int64_t source = database.integer("SELECT source FROM series WHERE id = ?", query.series);
  const std::optional<Extent> all = extent(source);
  if (!all) return {};
  const UnixMs from = std::max(query.from, all->first), to = std::min(query.to, all->last + 1);
  std::map<UnixMs, SumsById> rows;
  reader.read(query.series, query.regions, from, to, levelFor(query.width), [&](UnixMs time) -> SumsById& {
    return rows[query.width == 0 ? query.from : bucketStart(time, query.width)];
  });
  std::vector<RollupRow> result;
  for (auto& [start, regions] : rows) {
    RollupRow& row = result.emplace_back(RollupRow{.start = start});
    for (auto& [id, sums] : regions) {
      const auto name = names.find(id);
      if (name == names.end()) continue;
      DayNightSums& of = row.regions[name->second];
      for (const Side side : {Side::kDay, Side::kNight, Side::kUnknown}) of.of(side).add(sums.of(side));
    }
  }
  return result;
}

Chart StoreReader::chart(const ChartQuery& query) const {
  if (query.max_buckets < 2) throw Error("a chart needs at least 2 buckets");
  const std::optional<Extent> all = impl_->extent(query.source);
  if (!all) return {};
  const UnixMs from = std::max(query.from, all->first), to = std::min(query.to, all->last + 1);
  if (from >= to) return {};

  const Impl::SumReader reader(*impl_, query.source);
  const bool few = impl_->countSamples(query.source, from, to, kMaxSamples + 1) <= kMaxSamples;
  std::int64_t least = kDayMs;
  if (few && reader.isComplete(kSamples, from)) {
    least = kSecondMs;
  } else {
    for (std::size_t level = 1; level + 1 < kLevels; ++level)
      if (const std::int64_t width = kBucketWidths[level - 1];
          reader.isComplete(level, from) && (to - from) / width <= kMaxRows) {
        least = width;
        break;
      }
  }
  Chart chart;
  chart.bucket_ms = widthFor(from, to, least, query.max_buckets);

  const bool regions = std::ranges::any_of(query.series, [](const SeriesKey& one) { return !one.region.empty(); });
  const auto names = impl_->regionNames(query.source);
  std::map<UnixMs, ChartBucket> buckets;
  std::vector<SeriesRecord> all_series = series(query.source);
  if (query.only) std::erase_if(all_series, [&](const SeriesRecord& one) { return one.id != *query.only; });
  std::ranges::reverse(all_series);  // the latest one first: what it knows is not looked for in others
  for (const SeriesRecord& one : all_series) {
    std::unordered_map<std::string_view, int> numbers;
    for (std::size_t c = 0; c < one.classes.size(); ++c) numbers.emplace(one.classes[c], static_cast<int>(c));
    const RollupQuery of_one{.series = one.id, .from = from, .to = to, .width = chart.bucket_ms, .regions = regions};
    for (const RollupRow& row : impl_->rollup(of_one, reader, names)) {
      ChartBucket& bucket = buckets[row.start];
      bucket.start = row.start;
      bucket.values.resize(query.series.size());
      if (const auto whole = row.regions.find(""); whole != row.regions.end() && bucket.samples == 0) {
        const auto samples = [&](Side side) { return whole->second.of(side).samples; };
        const std::int64_t day = samples(Side::kDay), night = samples(Side::kNight);
        bucket.samples = day + night + samples(Side::kUnknown);
        if (day + night > 0) bucket.night = static_cast<double>(night) / static_cast<double>(night + day);
      }
      for (std::size_t q = 0; q < query.series.size(); ++q) {
        const SeriesKey& key = query.series[q];
        const auto region = row.regions.find(key.region);
        if (region == row.regions.end() || bucket.values[q].samples > 0) continue;
        const auto label = numbers.find(key.class_name);
        if (!key.quantity.empty())
          bucket.values[q] = region->second.spread(key.quantity);
        else if (label != numbers.end())
          bucket.values[q] = region->second.area(label->second);
      }
    }
  }
  for (auto& [start, bucket] : buckets) chart.buckets.push_back(std::move(bucket));
  std::vector<StoredStep> steps;
  for (std::size_t i = 1; i < chart.buckets.size(); ++i) {
    const ChartBucket& before = chart.buckets[i - 1];
    steps.push_back(
        {static_cast<double>(chart.buckets[i].start - before.start) / kSecondMs, static_cast<double>(before.samples)});
  }
  const Meant meant = impl_->meant(query.source, from, to);
  const auto gaps = findGaps(steps, static_cast<double>(chart.bucket_ms) / kSecondMs, meant.every_s, meant.archive);
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
  std::map<std::pair<UnixMs, bool>, TokenCounts> hours;  // start, night
  const auto addSamples = [&](UnixMs begin, UnixMs end) {
    if (begin >= end) return;
    impl_->visit(source, begin, end, SampleRows::With::kWhole, series, [&](const Sample& sample) {
      if (const auto tenths = tenthsOfTokens(sample); tenths && sample.night)
        ++hours[{bucketStart(sample.time, kHourMs), *sample.night}][*tenths];
      return true;
    });
  };
  UnixMs begin = bucketFrom(from, kHourMs), end = bucketStart(to, kHourMs);
  if (!reader.isComplete(kSamples, from)) begin = bucketStart(from, kHourMs);
  if (end < to && !reader.isComplete(kSamples, end)) end += kHourMs;
  if (begin >= end) {
    addSamples(from, to);
  } else {
    addSamples(from, begin);
    Statement rows = impl_->database.prepare(
        "SELECT start_ms, night, tokens FROM bucket WHERE series = ? AND width_ms = ? AND start_ms >= ? AND start_ms < "
        "?"
        " AND region = 0 AND tokens IS NOT NULL");
    rows.bind(series, kHourMs, begin, end);
    while (rows.step())
      if (const Side side = sideIn(rows, 1); side != Side::kUnknown)
        addTokenCounts(rows, 2, hours[{rows.integer(0), side == Side::kNight}]);
    addSamples(end, to);
  }
  std::vector<HourOfTokens> result;
  for (const auto& [key, counts] : hours) {
    HourOfTokens& hour = result.emplace_back(HourOfTokens{.start = key.first, .night = key.second});
    for (const auto& [tenths, count] : counts) hour.occurrences.emplace(tenths / 10.0, count);
  }
  return result;
}

DayNightStatistics StoreReader::dayNight(std::int64_t series, UnixMs from, UnixMs to) const {
  const auto hours = hoursOfTokens(series, from, to);
  const std::int64_t source = impl_->database.integer("SELECT source FROM series WHERE id = ?", series);
  UnixMs now = std::numeric_limits<UnixMs>::min();
  if (const auto extent = impl_->extent(source, from, to)) now = std::min(to, extent->last + 1);
  DayNightStatistics statistics = compareDayNight(hours, now);
  if ((statistics.day.samples == 0) != (statistics.night.samples == 0))
    for (const RollupRow& row : rollup({.series = series, .from = from, .to = to}))
      if (const auto whole = row.regions.find(""); whole != row.regions.end())
        if (const Spread brightness = whole->second.spread("brightness"); brightness.samples > 0)
          statistics.brightness.emplace(brightness.min, brightness.max);
  // Yesterday is another day than today also where less than two of them are asked for.
  if (constexpr UnixMs kSpan = 2 * kDayMs + kHourMs; now >= kSpan && from > now - kSpan) {
    const DayNightStatistics recent = compareDayNight(hoursOfTokens(series, now - kSpan, to), now);
    if (statistics.day.samples > 0) statistics.day_change = recent.day_change;
    if (statistics.night.samples > 0) statistics.night_change = recent.night_change;
  }
  return statistics;
}

Gaps StoreReader::gaps(std::int64_t source, UnixMs from, UnixMs to) const {
  constexpr std::int64_t kMaxTimes = 500000;
  const Impl::SumReader reader(*impl_, source);
  const bool one_by_one =
      reader.isComplete(kSamples, from) && impl_->countSamples(source, from, to, kMaxTimes + 1) <= kMaxTimes;
  Statement times = impl_->database.prepare(
      one_by_one
          ? "SELECT time_ms, 1 FROM sample WHERE source = ?1 AND time_ms >= ?2 AND time_ms < ?3 ORDER BY time_ms"
          : "SELECT start_ms, total(samples) FROM bucket WHERE series IN (SELECT id FROM series WHERE source = ?1)"
            " AND start_ms >= ?2 AND start_ms < ?3 AND width_ms = 3600000 AND region = 0 GROUP BY start_ms"
            " ORDER BY start_ms");
  times.bind(source, from, to);
  std::vector<StoredStep> steps;
  Gaps gaps;
  double samples = 0;
  for (std::optional<UnixMs> last; times.step(); last = times.integer(0), samples = times.real(1)) {
    if (!last) continue;
    gaps.longest = std::max(gaps.longest, times.integer(0) - *last);
    steps.push_back({static_cast<double>(times.integer(0) - *last) / kSecondMs, samples});
  }
  const Meant meant = impl_->meant(source, from, to);
  const auto found = findGaps(steps, one_by_one ? 0 : kHourMs / kSecondMs, meant.every_s, meant.archive);
  gaps.count = static_cast<int>(std::ranges::count(found, true));
  return gaps;
}

Pace StoreReader::pace(std::int64_t source) const {
  Statement latest = impl_->database.prepare("SELECT every_s FROM session WHERE source = ? ORDER BY id DESC LIMIT 1");
  PaceMeter meter(latest.bind(source).step() ? latest.real(0) : 0);
  Statement times =
      impl_->database.prepare("SELECT time_ms FROM sample WHERE source = ? ORDER BY time_ms DESC LIMIT ?");
  times.bind(source, PaceMeter::kSteps + 1);
  for (std::optional<UnixMs> next; times.step(); next = times.integer(0))
    if (next) meter.add(static_cast<double>(*next - times.integer(0)) / kSecondMs);
  return meter.pace();
}

Meant StoreReader::Impl::meant(std::int64_t source, UnixMs from, UnixMs to) const {
  Statement row = database.prepare(
      "SELECT max(every_s), (SELECT archive FROM source WHERE id = ?1) FROM session"
      " WHERE source = ?1 AND started_ms < ?2 AND (ended_ms IS NULL OR ended_ms >= ?3)");
  row.bind(source, to, from).step();
  const bool archive = row.integer(1) != 0;
  return {archive ? 0 : std::clamp(row.real(0), 0.0, 1e9), archive};
}

}  // namespace mpm::monitor
