// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "base/json_file.h"
#include "base/quantiles.h"
#include "evaluation/confusion_matrix.h"
#include "monitor/store/bucket.h"
#include "monitor/store/schema.h"
#include "monitor/store/store.h"
#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

// Sums and samples that a chart may read: some 30 ms of work.
constexpr std::int64_t kMaxRows = 20000, kMaxSamples = 4000;
// Samples that are judged one by one for a comparison of day and night, which is asked for less often.
constexpr std::int64_t kMaxJudged = 100000;

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

struct Extent {
  UnixMs first = 0, last = 0;  // both inclusive; of samples, or starts of buckets
};

// A zone that this machine does not know, of a database from elsewhere, must not hide what is stored.
charts::Clock clockOf(const std::string& zone) try {
  return zone.empty() ? std::nullopt : charts::Clock(vision::CameraClock(zone));
} catch (const Error&) {
  return vision::CameraClock();
}

SessionRecord readSession(const Statement& row, const std::string& source) {
  SessionRecord session;
  session.source = source;
  std::string classes, validation;
  row.read(session.id, session.started, session.ended, session.model, session.model_name, session.reduce,
           session.tokens, classes, session.every_s, session.latitude, session.longitude, session.model_digest,
           validation, session.time_zone);
  if (!session.latitude || !session.longitude) session.latitude = session.longitude = std::nullopt;
  try {
    for (const JsonValue& name : JsonValue(classes, "classes").list())
      session.classes.push_back(name.json().is_string() ? name.text() : "");
  } catch (const Error&) {  // another program wrote it
  }
  try {
    session.cross_validation =
        evaluation::confusionMatrixOf({validation, "cross_validation"}, static_cast<int>(session.classes.size()));
  } catch (const Error&) {  // none, or of other classes
  }
  return session;
}

// How soon the next sample of a source comes.
struct Pace {
  double watched = 0;  // by the intervals that samples were meant to have; 0: they came as they liked
  bool archive = false;

  // A longer step is a gap: more than two samples are missing. An archive may have no pictures of the nights.
  double longest(const std::vector<double>& steps) const {
    if (watched > 0 && !archive) return watched;
    const double usual = 2.5 * quantile(steps, 0.5);
    const auto pauses = std::ranges::count_if(steps, [&](double step) { return step > usual; });
    const double days = std::accumulate(steps.begin(), steps.end(), 0.0) / kDayMs;
    return archive && 2.0 * static_cast<double>(pauses) >= days ? std::max<double>(usual, kDayMs) : usual;
  }
};

// Collects rows, ascending by time, into the buckets of a chart.
class ChartBuilder {
 public:
  // `regions`: names by id, of those that are asked for.
  ChartBuilder(const ChartQuery& query, const std::vector<SessionRecord>& sessions,
               const std::map<std::int64_t, std::string>& regions, std::int64_t width, const Pace& pace)
      : query_(query), regions_(regions), pace_(pace) {
    chart_.bucket_ms = width;
    for (const SessionRecord& session : sessions) {
      std::unordered_map<std::string_view, int> numbers;
      for (std::size_t c = 0; c < session.classes.size(); ++c) numbers.emplace(session.classes[c], static_cast<int>(c));
      for (const SeriesKey& series : query.series) {
        const auto named = numbers.find(series.class_name);
        labels_[session.id].push_back(named == numbers.end() ? -1 : named->second);
      }
    }
  }

  void add(const Sample& sample) {
    for (const RegionSample& region : sample.regions)
      if (region.region == 0 || (regions_.contains(region.region) && !sample.flagged()))
        at(sample.time, sample.session, region.region).add(sample, region);
  }
  void add(UnixMs start, std::int64_t session, std::int64_t region, const Bucket& bucket) {
    at(start, session, region).add(bucket);
  }

  Chart take() {
    finish();
    markGaps();
    return std::move(chart_);
  }

 private:
  Bucket& at(UnixMs start, std::int64_t session, std::int64_t region) {
    const UnixMs bucket = bucketStart(start, chart_.bucket_ms);
    if (bucket != start_) finish();
    start_ = bucket;
    return sums_[{session, region}];
  }

  void markGaps() {
    std::vector<double> steps;
    for (std::size_t i = 1; i < chart_.buckets.size(); ++i)
      steps.push_back(static_cast<double>(chart_.buckets[i].start - chart_.buckets[i - 1].start));
    if (steps.empty()) return;
    const double longest = static_cast<double>(chart_.bucket_ms) + pace_.longest(steps);
    for (std::size_t i = 0; i < steps.size(); ++i) chart_.buckets[i + 1].gap_before = steps[i] > longest;
  }

  void finish() {
    if (sums_.empty()) return;
    ChartBucket bucket{.start = start_};
    bucket.values.resize(query_.series.size());
    std::int64_t day = 0, night = 0;
    for (const auto& [of, sum] : sums_) {
      const auto& [session, region] = of;
      if (region == 0) {
        bucket.samples += sum.samples;
        day += sum.day;
        night += sum.night;
      }
      const auto name = regions_.find(region);
      const std::string& of_region = name == regions_.end() ? std::string() : name->second;
      for (std::size_t q = 0; q < bucket.values.size(); ++q)
        if (query_.series[q].region == of_region) addSpread(bucket.values[q], sum, session, q);
    }
    if (night + day > 0) bucket.night = static_cast<double>(night) / static_cast<double>(night + day);
    chart_.buckets.push_back(std::move(bucket));
    sums_.clear();
  }

  void addSpread(Spread& all, const Bucket& sum, std::int64_t session, std::size_t q) const {
    const SeriesKey& series = query_.series[q];
    if (!series.quantity.empty()) return addTo(all, sum.spread(series.quantity));
    const auto labels = labels_.find(session);
    if (labels != labels_.end() && labels->second[q] >= 0) addTo(all, sum.area(labels->second[q]));
  }

  const ChartQuery& query_;
  const std::map<std::int64_t, std::string>& regions_;
  Pace pace_;
  Chart chart_;
  std::map<std::int64_t, std::vector<int>> labels_;  // session -> of the class that each series names; -1: none
  std::map<std::pair<std::int64_t, std::int64_t>, Bucket> sums_;  // by session and region
  UnixMs start_ = 0;
};

constexpr const char* kSessionColumns =
    "SELECT id, started_ms, ended_ms, model, model_name, schedule, tokens, classes, every_s, latitude, longitude,"
    " model_digest, cross_validation, ";

using Hours = std::map<std::pair<UnixMs, bool>, std::map<std::int32_t, std::int64_t>>;  // start, night -> occurrences

// The sessions whose token counts may be compared with those of the latest one of source ?1.
constexpr const char* kComparable =
    "(SELECT same.id FROM session AS same,"
    " (SELECT * FROM session WHERE source = ?1 ORDER BY id DESC LIMIT 1) AS latest WHERE same.source = ?1"
    " AND same.schedule = latest.schedule AND same.tokens = latest.tokens AND same.classes = latest.classes"
    " AND same.model_digest = latest.model_digest)";

}  // namespace

struct StoreReader::Impl {
  Database database;
  std::string path;
  std::optional<FileIdentity> identity;
  NightRule night{};  // monostate: as stored

  bool judges() const { return !std::holds_alternative<std::monostate>(night); }

  // Day and night of these hours by the rule. Only the samples of an hour in which it changes, or may, are looked at.
  Hours judged(std::int64_t source, const Hours& hours) const {
    Hours result;
    DayNight rule(night);
    std::int64_t left = kMaxJudged;
    for (const auto& [key, occurrences] : hours) {
      const UnixMs start = key.first, end = start + kHourMs;
      std::int64_t samples = 0;
      for (const auto& [tenths, count] : occurrences) samples += count;
      const Spread brightness = brightnessOfHour(source, start);
      DayNight first = rule, last = rule;
      const bool changes = first.night(start, brightness.min) != last.night(end - 1, brightness.max);
      Hours one_by_one;
      if (changes && (left -= samples) >= 0) one_by_one = judgedSamples(source, start, end, rule);
      std::int64_t found = 0;
      for (const auto& [side, counts] : one_by_one)
        for (const auto& [tenths, count] : counts) found += count;
      if (found == samples)  // else some were forgotten
        result.merge(one_by_one);
      else
        result[{start, *rule.night(start + kHourMs / 2, brightness.mean)}] = occurrences;
    }
    return result;
  }

  Hours judgedSamples(std::int64_t source, UnixMs from, UnixMs to, DayNight& rule) const {
    Hours hours;
    SampleRows rows(database, SampleRows::With::kWhole,
                    std::string("sample.source = ?1 AND time_ms >= ?2 AND time_ms < ?3 AND session IN ") + kComparable);
    rows.bind(source, from, to);
    for (Sample sample; rows.next(sample);) {
      const bool is_night = *rule.night(sample.time, sample.brightness());
      if (const auto tenths = tenthsOfTokens(sample)) ++hours[{from, is_night}][*tenths];
    }
    return hours;
  }

  Spread brightnessOfHour(std::int64_t source, UnixMs start) const {
    Spread brightness;
    Statement rows = database.prepare(
        "SELECT samples, day, night, series FROM bucket WHERE source = ? AND width_ms = ? AND start_ms = ? AND region ="
        " 0");
    rows.bind(source, kHourMs, start);
    while (rows.step()) addTo(brightness, Bucket(rows, 0).spread("brightness"));
    return brightness;
  }

  std::string sourceName(std::int64_t source) const {
    Statement row = database.prepare("SELECT name FROM source WHERE id = ?");
    if (!row.bind(source).step()) throw Error("the database has no source " + std::to_string(source));
    return std::string(row.text(0));
  }

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
      if (std::abs(end) > kFar) row.refuse("a sample has the time " + std::to_string(end) + " ms");
    return extent;
  }
  std::optional<Extent> sampleExtent(std::int64_t source) const {
    return extentOf("time_ms", "sample WHERE source = ?1", source);
  }
  std::optional<Extent> bucketExtent(std::int64_t source, std::int64_t width) const {
    return extentOf("start_ms", "bucket WHERE source = ?1 AND width_ms = ?2", source, width);
  }

  // First and last time of everything that is kept, in any resolution.
  std::optional<Extent> extent(std::int64_t source) const {
    std::optional<Extent> all = sampleExtent(source);
    for (std::int64_t width : kBucketWidths) {
      const std::optional<Extent> level = bucketExtent(source, width);
      if (!level) continue;
      if (!all) {
        all = Extent{level->first, level->last + width - 1};
      } else {
        // While samples are kept from the bucket's stretch on, they say it exactly.
        if (level->first + width <= all->first) all->first = level->first;
        if (level->last > all->last) all->last = level->last + width - 1;
      }
    }
    return all;
  }

  // Samples in [from, to), counted up to `limit`.
  std::int64_t countSamples(std::int64_t source, UnixMs from, UnixMs to, std::int64_t limit) const {
    return database.integer(
        "SELECT count(*) FROM (SELECT 1 FROM sample WHERE source = ? AND time_ms >= ? AND time_ms < ? LIMIT ?)", source,
        from, to, limit);
  }

  // All samples that are kept. They go oldest first, so the days and hours behind the first one's are whole, and their
  // sums are read in a millisecond where counting the rows of a year would take a second.
  std::int64_t countSamples(std::int64_t source) const {
    const std::optional<Extent> kept = sampleExtent(source);
    if (!kept) return 0;
    const auto wholeFrom = [&](std::int64_t width) { return bucketStart(kept->first, width) + width; };
    const auto sums = [&](std::int64_t width, UnixMs to) {
      return database.integer(
          "SELECT total(samples) FROM bucket WHERE source = ? AND width_ms = ? AND start_ms >= ? AND start_ms < ? AND"
          " region = 0",
          source, width, wholeFrom(width), to);
    };
    constexpr auto kNoLimit = std::numeric_limits<std::int64_t>::max();
    return sums(kDayMs, kNoLimit) + sums(kHourMs, wholeFrom(kDayMs)) +
           countSamples(source, kept->first, wholeFrom(kHourMs), kNoLimit);
  }

  void visit(std::int64_t source, UnixMs from, UnixMs to, SampleRows::With with,
             const std::function<bool(const Sample&)>& visit) const {
    SampleRows rows(database, with, "sample.source = ? AND time_ms >= ? AND time_ms < ?");
    rows.bind(source, from, to);
    DayNight rule(night);
    for (Sample sample; rows.next(sample);) {
      if (judges()) sample.night = rule.night(sample.time, sample.brightness());
      if (!visit(sample)) return;
    }
  }

  // Names by id of the regions that a chart asks for.
  std::map<std::int64_t, std::string> regionsIn(const ChartQuery& query) const {
    std::map<std::int64_t, std::string> names;
    Statement rows = database.prepare("SELECT id FROM region WHERE source = ? AND name = ?");
    for (const SeriesKey& series : query.series) {
      if (series.region.empty()) continue;
      rows.bind(query.source, series.region);
      while (rows.step()) names[rows.integer(0)] = series.region;
      rows.reset();
    }
    return names;
  }

  Pace pace(std::int64_t source, UnixMs from, UnixMs to) const {
    Statement row = database.prepare(
        "SELECT max(every_s), (SELECT archive FROM source WHERE id = ?1) FROM session"
        " WHERE source = ?1 AND started_ms < ?2 AND (ended_ms IS NULL OR ended_ms >= ?3)");
    row.bind(source, to, from).step();
    return {row.real(0) == 0 ? 0 : 2500 * std::clamp(row.real(0), 1.0, 1e9), row.integer(1) != 0};
  }
};

StoreReader::StoreReader(const std::string& path) : impl_(new Impl{openForReading(path), path, identityOf(path)}) {}
StoreReader::~StoreReader() = default;
StoreReader::StoreReader(StoreReader&&) noexcept = default;
StoreReader& StoreReader::operator=(StoreReader&&) noexcept = default;

void StoreReader::setNightRule(const NightRule& rule) {
  validate(rule);
  impl_->night = rule;
}

std::vector<SourceRecord> StoreReader::sources() const {
  std::vector<SourceRecord> sources;
  const std::string zone = nullUnless(columnsOf(impl_->database, "session"), "time_zone");
  Statement rows = impl_->database.prepare(
      "SELECT id, name, archive, (SELECT " + zone +
      " FROM session WHERE source = source.id ORDER BY time_zone IS NULL, id DESC LIMIT 1) FROM source ORDER BY id");
  while (rows.step()) {
    SourceRecord& source = sources.emplace_back();
    rows.read(source.id, source.name, source.archive, source.time_zone);
    source.clock = clockOf(source.time_zone);
    if (const auto extent = impl_->extent(source.id)) {
      source.first = extent->first;
      source.last = extent->last;
    }
    source.samples = impl_->countSamples(source.id);
  }
  return sources;
}

std::optional<ViewReference> StoreReader::view(const std::string& source) const {
  Statement row = impl_->database.prepare(
      "SELECT width, height, pictures, learned_ms, moved_right, moved_down, turned, zoomed, rows, edges"
      " FROM view_reference WHERE source = (SELECT id FROM source WHERE name = ?)");
  if (!row.bind(source).step()) return std::nullopt;
  ViewReference view;
  int rows = 0;
  row.read(view.size.width, view.size.height, view.pictures, view.learned, view.motion.right, view.motion.down,
           view.motion.turn, view.motion.zoom, rows);
  if (view.pictures == 0) return view;
  const std::string_view bytes = row.blob(9);
  const int columns = rows > 0 ? static_cast<int>(bytes.size() / 4) / rows : 0;
  if (columns < 1 || bytes.size() != std::size_t{4} * rows * columns) return std::nullopt;
  view.edges = cv::Mat(rows, columns, CV_16SC2);
  std::copy(bytes.begin(), bytes.end(), view.edges.ptr<char>());
  return view;
}

std::string StoreReader::id() const { return idOf(impl_->database); }

std::string StoreReader::privacy(const std::string& source) const {
  const std::string column = nullUnless(columnsOf(impl_->database, "source"), "privacy");
  Statement row = impl_->database.prepare("SELECT " + column + " FROM source WHERE name = ?");
  return row.bind(source).step() ? std::string(row.text(0)) : "";
}

std::vector<RegionRecord> StoreReader::regions(const std::string& source) const {
  std::vector<RegionRecord> regions;
  Statement rows = impl_->database.prepare(
      "SELECT id, shape, current FROM region WHERE source = (SELECT id FROM source WHERE name = ?) ORDER BY id");
  rows.bind(source);
  while (rows.step()) {
    const std::string where = "region " + std::to_string(rows.integer(0)) + " of '" + impl_->path + "'";
    regions.push_back({.id = rows.integer(0),
                       .region = vision::regionFromJson({std::string(rows.text(1)), where}, ""),
                       .current = rows.integer(2) != 0});
  }
  return regions;
}

std::vector<vision::Region> currentRegions(const StoreReader& store, const std::string& source) {
  std::vector<vision::Region> regions;
  for (RegionRecord& one : store.regions(source))
    if (one.current) regions.push_back(std::move(one.region));
  return regions;
}

std::vector<SessionRecord> StoreReader::sessions(std::int64_t source) const {
  const std::string name = impl_->sourceName(source);
  std::vector<SessionRecord> sessions;
  Statement rows =
      impl_->database.prepare(kSessionColumns + nullUnless(columnsOf(impl_->database, "session"), "time_zone") +
                              " FROM session WHERE source = ? ORDER BY id");
  rows.bind(source);
  while (rows.step()) sessions.push_back(readSession(rows, name));
  return sessions;
}

std::vector<StateSeries> StoreReader::states(std::int64_t source, UnixMs from, UnixMs to) const {
  std::vector<StateSeries> all;
  Statement rows = impl_->database.prepare(
      "SELECT name, time_ms, state FROM state_change AS one WHERE source = ?1 AND time_ms < ?3 AND time_ms >="
      " coalesce((SELECT max(time_ms) FROM state_change WHERE source = ?1 AND name = one.name AND time_ms <= ?2), ?2)"
      " ORDER BY name, time_ms");
  rows.bind(source, from, to);
  while (rows.step()) {
    if (all.empty() || all.back().name != rows.text(0)) all.push_back({.name = std::string(rows.text(0))});
    all.back().changes.emplace_back(std::max(from, rows.integer(1)), rows.text(2));
  }
  if (all.empty()) return all;  // no need to look at each sample
  rows = impl_->database.prepare(
      "SELECT name, counted, count(*), total(sure) FROM state_sample JOIN sample ON sample.id = sample"
      " WHERE source = ? AND time_ms >= ? AND time_ms < ? GROUP BY name, counted");
  rows.bind(source, from, to);
  while (rows.step())
    for (StateSeries& one : all)
      if (one.name == rows.text(0)) {
        one.samples[std::string(rows.text(1))] = rows.integer(2);
        one.sure += rows.integer(3);
      }
  return all;
}

Chart StoreReader::chart(const ChartQuery& query) const {
  if (query.max_buckets < 2) throw Error("a chart needs at least 2 buckets");
  const std::optional<Extent> all = impl_->extent(query.source);
  if (!all) return {};
  const UnixMs from = std::max(query.from, all->first), to = std::min(query.to, all->last + 1);
  if (from >= to) return {};
  const Pace pace = impl_->pace(query.source, from, to);
  const auto regions = impl_->regionsIn(query);

  // Samples, unless there are too many or retention took some of the stretch.
  const std::optional<Extent> kept = impl_->sampleExtent(query.source);
  if (kept && kept->first <= from && impl_->countSamples(query.source, from, to, kMaxSamples + 1) <= kMaxSamples) {
    ChartBuilder builder(query, sessions(query.source), regions, widthFor(from, to, kSecondMs, query.max_buckets),
                         pace);
    using enum SampleRows::With;
    impl_->visit(query.source, from, to, regions.empty() ? kWhole : kRegions, [&](const Sample& sample) {
      builder.add(sample);
      return true;
    });
    return builder.take();
  }
  // The sums of minutes, or of hours where the buckets hold whole ones.
  const std::int64_t enough = std::min(widthFor(from, to, kMinuteMs, query.max_buckets), kHourMs);
  std::int64_t level = 0;
  for (std::int64_t width : kBucketWidths) {
    if (level > 0 && width > enough) break;
    const std::optional<Extent> stored = impl_->bucketExtent(query.source, width);
    if (stored && stored->first <= bucketStart(from, width) && (to - from) / width <= kMaxRows) level = width;
  }
  if (level == 0) level = kDayMs;
  ChartBuilder builder(query, sessions(query.source), regions,
                       widthFor(bucketStart(from, level), to, level, query.max_buckets), pace);
  Statement rows = impl_->database.prepare(
      "SELECT start_ms, samples, day, night, series, session, region"
      " FROM bucket WHERE source = ? AND width_ms = ? AND start_ms >= ? AND start_ms < ? ORDER BY start_ms");
  rows.bind(query.source, level, bucketStart(from, level), to);
  DayNight rule(impl_->night);
  while (rows.step()) {
    if (rows.integer(6) != 0 && !regions.contains(rows.integer(6))) continue;
    Bucket bucket(rows, 1);
    if (impl_->judges() && level <= kHourMs && rows.integer(6) == 0) {
      const double brightness = bucket.spread("brightness").mean;
      bucket.night = *rule.night(rows.integer(0) + level / 2, brightness) ? bucket.samples : 0;
      bucket.day = bucket.samples - bucket.night;
    }
    builder.add(rows.integer(0), rows.integer(5), rows.integer(6), bucket);
  }
  return builder.take();
}

void StoreReader::visitHours(ChartQuery query, const std::function<void(const ChartBucket&)>& visit) const {
  constexpr int kDaysAtOnce = 365;
  query.max_buckets = 25 * kDaysAtOnce;
  const Extent all = impl_->extent(query.source).value_or(Extent{0, -1});
  const UnixMs end = std::min(query.to, all.last + 1);
  UnixMs last = 0;
  for (query.to = std::max(query.from, all.first); query.to < end;) {
    query.from = std::exchange(query.to, std::min(bucketStart(query.to, kDayMs) + kDaysAtOnce * kDayMs, end));
    Chart part = chart(query);
    if (last != 0 && !part.buckets.empty())  // where a chart begins it knows no gap
      part.buckets.front().gap_before = part.buckets.front().start - last > kDayMs;
    for (const ChartBucket& bucket : part.buckets) visit(bucket);
    if (!part.buckets.empty()) last = part.buckets.back().start;
  }
}

Gaps StoreReader::gaps(std::int64_t source, UnixMs from, UnixMs to) const {
  constexpr std::int64_t kMaxTimes = 500000;
  const std::optional<Extent> all = impl_->extent(source), kept = impl_->sampleExtent(source);
  const bool one_by_one = kept && kept->first <= std::max(from, all->first) &&
                          impl_->countSamples(source, from, to, kMaxTimes + 1) <= kMaxTimes;
  Statement times = impl_->database.prepare(
      one_by_one ? "SELECT time_ms FROM sample WHERE source = ?1 AND time_ms >= ?2 AND time_ms < ?3 ORDER BY time_ms"
                 : "SELECT DISTINCT start_ms FROM bucket WHERE source = ?1 AND start_ms >= ?2 AND start_ms < ?3"
                   " AND width_ms = 3600000 ORDER BY start_ms");
  times.bind(source, from, to);
  std::vector<double> steps;
  for (std::optional<UnixMs> last; times.step(); last = times.integer(0))
    if (last) steps.push_back(static_cast<double>(times.integer(0) - *last));
  if (steps.empty()) return {};
  const double limit = impl_->pace(source, from, to).longest(steps) + (one_by_one ? 0.0 : kHourMs);
  return {static_cast<int>(std::ranges::count_if(steps, [&](double step) { return step > limit; })),
          static_cast<UnixMs>(std::ranges::max(steps))};
}

std::int64_t StoreReader::count(std::int64_t source, UnixMs from, UnixMs to) const {
  return impl_->countSamples(source, from, to, std::numeric_limits<std::int64_t>::max());
}

void StoreReader::pictures(std::int64_t source,
                           const std::function<void(const std::string&, UnixMs, std::int64_t)>& visit) const {
  Statement rows = impl_->database.prepare("SELECT picture, time_ms, picture_digest FROM sample WHERE source = ?");
  rows.bind(source);
  while (rows.step()) visit(std::string(rows.text(0)), rows.integer(1), rows.integer(2));
}

void StoreReader::samples(std::int64_t source, UnixMs from, UnixMs to,
                          const std::function<bool(const Sample&)>& visit) const {
  impl_->visit(source, from, to, SampleRows::With::kStates, visit);
}

std::vector<Sample> StoreReader::lastSamples(std::int64_t source, int limit, UnixMs until) const {
  Statement first = impl_->database.prepare(
      "SELECT time_ms FROM sample WHERE source = ? AND time_ms < ? ORDER BY time_ms DESC LIMIT 1 OFFSET ?");
  std::vector<Sample> samples;
  const UnixMs from = first.bind(source, until, limit - 1).step() ? first.integer(0) : INT64_MIN;
  this->samples(source, from, until, [&](const Sample& sample) {
    samples.push_back(sample);
    return true;
  });
  return samples;
}

std::optional<Sample> StoreReader::lastSample(std::int64_t source, UnixMs now) const {
  for (const UnixMs until : {now + kMinuteMs, UnixMs{INT64_MAX}})
    if (const auto last = lastSamples(source, 1, until); !last.empty()) return last.back();
  return std::nullopt;
}

std::vector<Event> StoreReader::events(std::int64_t source, UnixMs from, UnixMs to, int limit) const {
  std::vector<Event> events;
  // Each half reads its end of the index, however many events other sources have.
  const auto latest = [](const char* of) {
    return std::string("SELECT * FROM (SELECT time_ms, kind, severity, message, id FROM event WHERE source ") + of +
           " AND time_ms >= ?2 AND time_ms < ?3 ORDER BY time_ms DESC, id DESC LIMIT ?4)";
  };
  Statement rows = impl_->database.prepare(latest("= ?1") + " UNION ALL " + latest("IS NULL") +
                                           " ORDER BY time_ms DESC, id DESC LIMIT ?4");
  rows.bind(source, from, to, limit);
  while (rows.step())
    events.push_back({rows.integer(0), static_cast<EventKind>(rows.integer(1)), static_cast<Severity>(rows.integer(2)),
                      std::string(rows.text(3))});
  std::ranges::reverse(events);
  return events;
}

std::vector<Message> StoreReader::outbox(const std::string& channel, std::int64_t after, int limit) const {
  std::vector<Message> messages;
  Statement rows = impl_->database.prepare(
      "SELECT channel, topic, payload, latest, number, id FROM outbox WHERE channel = ? AND number > ?"
      " ORDER BY number LIMIT ?");
  rows.bind(channel, after, limit);
  while (rows.step()) {
    Message& one = messages.emplace_back();
    rows.read(one.channel, one.topic, one.payload, one.latest, one.number, one.id);
  }
  return messages;
}

std::int64_t StoreReader::waiting() const { return impl_->database.integer("SELECT count(*) FROM outbox"); }

std::vector<HourOfTokens> StoreReader::hoursOfTokens(std::int64_t source, UnixMs from, UnixMs to) const {
  Statement rows =
      impl_->database.prepare(std::string("SELECT start_ms, night, occurrences FROM hour_of_tokens WHERE session IN ") +
                              kComparable + " AND start_ms >= ?2 AND start_ms < ?3");
  rows.bind(source, from < 0 ? from : bucketStart(from, kHourMs), to);
  Hours hours;  // two sessions may share one
  while (rows.step())
    if (const std::int64_t night = rows.integer(1); impl_->judges() || night != kNightUnknown)
      addOccurrences(rows, 2, hours[{rows.integer(0), !impl_->judges() && night != 0}]);
  if (impl_->judges()) hours = impl_->judged(source, hours);
  std::vector<HourOfTokens> result;
  for (const auto& [key, occurrences] : hours) {
    HourOfTokens hour{.start = key.first, .night = key.second, .occurrences = {}};
    for (const auto& [tenths, count] : occurrences) hour.occurrences.emplace(tenths / 10.0, count);
    result.push_back(std::move(hour));
  }
  return result;
}

DayNightStatistics StoreReader::dayNight(std::int64_t source, UnixMs from, UnixMs to) const {
  const auto hours = hoursOfTokens(source, from, to);
  UnixMs now = std::numeric_limits<UnixMs>::min();
  if (const auto extent = impl_->sampleExtent(source))
    now = std::min(to, extent->last + 1);
  else if (!hours.empty())
    now = hours.back().start + kHourMs;
  DayNightStatistics statistics = compareDayNight(hours, now);
  if ((statistics.day.samples == 0) != (statistics.night.samples == 0)) {
    Spread brightness;
    for (const ChartBucket& bucket :
         chart({.source = source, .from = from, .to = to, .series = {{.quantity = "brightness"}}}).buckets)
      addTo(brightness, bucket.values[0]);
    statistics.brightness.emplace(brightness.min, brightness.max);
  }
  // Yesterday is another day than today also where less than two of them are asked for.
  if (constexpr UnixMs kSpan = 2 * kDayMs + kHourMs; now >= kSpan && from > now - kSpan) {
    const DayNightStatistics recent = compareDayNight(hoursOfTokens(source, now - kSpan, to), now);
    statistics.day_change = recent.day_change;
    statistics.night_change = recent.night_change;
  }
  return statistics;
}

bool StoreReader::current() const {
  const char* name = sqlite3_db_filename(impl_->database.handle(), "main");
  return !sqlite3_uri_boolean(name, "immutable", 0) && identityOf(impl_->path) == impl_->identity;
}

}  // namespace mpm::monitor
