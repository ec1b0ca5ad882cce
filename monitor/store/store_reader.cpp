// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/quantiles.h"
#include "monitor/store/bucket.h"
#include "monitor/store/schema.h"
#include "monitor/store/store.h"
#include "mpm/error.hpp"
#include "vision/cross_validation.h"

namespace mpm::monitor {
namespace {

// Rows that a chart may read: some 20 ms of work.
constexpr std::int64_t kMaxRows = 20000;

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

SessionRecord readSession(const Statement& row, const std::string& source) {
  SessionRecord session;
  session.source = source;
  session.id = row.integer(0);
  session.started = row.integer(1);
  if (!row.isNull(2)) session.ended = row.integer(2);
  session.model = row.text(3);
  session.model_name = row.text(4);
  session.reduce = row.text(5);
  if (session.reduce.find_first_not_of("0123456789,") == std::string::npos || session.reduce == "none")
    session.schedule = parseSchedule(std::exchange(session.reduce, {}));
  session.tokens = static_cast<int>(row.integer(6));
  const nlohmann::json classes = nlohmann::json::parse(row.text(7), nullptr, false);
  if (classes.is_array())
    for (const auto& name : classes) session.classes.push_back(name.is_string() ? name.get<std::string>() : "");
  session.every_s = row.real(8);
  if (!row.isNull(9) && !row.isNull(10)) {
    session.latitude = row.real(9);
    session.longitude = row.real(10);
  }
  session.model_digest = row.text(11);
  session.cross_validation = vision::confusionMatrixOf(nlohmann::ordered_json::parse(row.text(12), nullptr, false),
                                                       static_cast<int>(session.classes.size()));
  return session;
}

// Collects rows, ascending by time, into the buckets of a chart.
class ChartBuilder {
 public:
  ChartBuilder(const ChartQuery& query, std::int64_t width, std::int64_t longest_step)
      : query_(query), longest_step_(longest_step) {
    chart_.bucket_ms = width;
  }

  template <typename Row>  // Sample or Bucket
  void add(UnixMs start, const Row& row) {
    const UnixMs bucket = bucketStart(start, chart_.bucket_ms);
    if (bucket != start_) finish();
    start_ = bucket;
    sum_.add(row);
  }

  Chart take() {
    finish();
    markGaps();
    return std::move(chart_);
  }

 private:
  // Where more than two samples are missing. For a source with its own pace (longest step 0), the usual step decides.
  void markGaps() {
    std::vector<UnixMs> steps;
    for (std::size_t i = 1; i < chart_.buckets.size(); ++i)
      steps.push_back(chart_.buckets[i].start - chart_.buckets[i - 1].start);
    if (steps.empty()) return;
    std::int64_t longest = longest_step_;
    if (longest == 0)
      longest = static_cast<std::int64_t>(2.5 * quantile(std::vector<double>(steps.begin(), steps.end()), 0.5));
    for (std::size_t i = 0; i < steps.size(); ++i)
      chart_.buckets[i + 1].gap_before = steps[i] > chart_.bucket_ms + longest;
  }

  void finish() {
    if (sum_.samples == 0) return;
    ChartBucket bucket;
    bucket.start = start_;
    bucket.samples = sum_.samples;
    if (sum_.night + sum_.day > 0)
      bucket.night = static_cast<double>(sum_.night) / static_cast<double>(sum_.night + sum_.day);
    for (const Quantity& quantity : query_.quantities) bucket.values.push_back(sum_.spread(quantity));
    chart_.buckets.push_back(std::move(bucket));
    sum_ = {};
  }

  const ChartQuery& query_;
  std::int64_t longest_step_;
  Chart chart_;
  Bucket sum_;
  UnixMs start_ = 0;
};

constexpr const char* kSessionColumns =
    "id, started_ms, ended_ms, model, model_name, schedule, tokens, classes, every_s, latitude, longitude,"
    " model_digest";

}  // namespace

struct StoreReader::Impl {
  Database database;
  std::string path;
  std::optional<FileIdentity> identity;

  std::string sourceName(std::int64_t source) const {
    Statement row = database.prepare("SELECT name FROM source WHERE id = ?");
    if (!row.bind(source).step()) throw Error("the database has no source " + std::to_string(source));
    return std::string(row.text(0));
  }

  std::optional<Extent> sampleExtent(std::int64_t source) const {
    Statement row = database.prepare(
        "SELECT (SELECT min(time_ms) FROM sample WHERE source = ?1), (SELECT max(time_ms) FROM sample WHERE source = "
        "?1)");
    row.bind(source).step();
    if (row.isNull(0)) return std::nullopt;
    return Extent{row.integer(0), row.integer(1)};
  }

  std::optional<Extent> bucketExtent(std::int64_t source, std::int64_t width) const {
    Statement row = database.prepare(
        "SELECT (SELECT min(start_ms) FROM bucket WHERE source = ?1 AND width_ms = ?2),"
        " (SELECT max(start_ms) FROM bucket WHERE source = ?1 AND width_ms = ?2)");
    row.bind(source, width).step();
    if (row.isNull(0)) return std::nullopt;
    return Extent{row.integer(0), row.integer(1)};
  }

  // Of everything that is kept, in any resolution.
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
    Statement row = database.prepare(
        "SELECT count(*) FROM (SELECT 1 FROM sample WHERE source = ? AND time_ms >= ? AND time_ms < ? LIMIT ?)");
    row.bind(source, from, to, limit).step();
    return row.integer(0);
  }

  // All samples that are kept. They go oldest first, so the hours behind the first one's are whole, and their sums are
  // read in milliseconds where counting the rows of a year would take a second.
  std::int64_t countSamples(std::int64_t source) const {
    const std::optional<Extent> kept = sampleExtent(source);
    if (!kept) return 0;
    const UnixMs whole = bucketStart(kept->first, kHourMs) + kHourMs;
    Statement row =
        database.prepare("SELECT total(samples) FROM bucket WHERE source = ? AND width_ms = ? AND start_ms >= ?");
    row.bind(source, kHourMs, whole).step();
    return row.integer(0) + countSamples(source, kept->first, whole, std::numeric_limits<std::int64_t>::max());
  }

  // Two and a half of the intervals that samples were meant to have; 0: they came as they liked.
  std::int64_t longestStep(std::int64_t source, UnixMs from, UnixMs to) const {
    Statement row = database.prepare(
        "SELECT max(every_s) FROM session WHERE source = ? AND started_ms < ? AND (ended_ms IS NULL OR ended_ms >= ?)");
    row.bind(source, to, from).step();
    if (row.real(0) == 0) return 0;
    return static_cast<std::int64_t>(2.5 * std::max(1.0, row.real(0)) * 1000);
  }
};

StoreReader::StoreReader(const std::string& path) : impl_(new Impl{openForReading(path), path, identityOf(path)}) {}
StoreReader::~StoreReader() = default;
StoreReader::StoreReader(StoreReader&&) noexcept = default;
StoreReader& StoreReader::operator=(StoreReader&&) noexcept = default;

std::vector<SourceRecord> StoreReader::sources() const {
  std::vector<SourceRecord> sources;
  Statement rows = impl_->database.prepare("SELECT id, name FROM source ORDER BY id");
  while (rows.step()) {
    SourceRecord source{.id = rows.integer(0), .name = std::string(rows.text(1))};
    if (const auto extent = impl_->extent(source.id)) {
      source.first = extent->first;
      source.last = extent->last;
    }
    source.samples = impl_->countSamples(source.id);
    sources.push_back(std::move(source));
  }
  return sources;
}

std::vector<SessionRecord> StoreReader::sessions(std::int64_t source) const {
  const std::string name = impl_->sourceName(source);
  std::vector<SessionRecord> sessions;
  const bool old = impl_->database.integer("PRAGMA user_version") < 4;
  Statement rows =
      impl_->database.prepare(std::string("SELECT ") + kSessionColumns + (old ? ", ''" : ", cross_validation") +
                              " FROM session WHERE source = ? ORDER BY id");
  rows.bind(source);
  while (rows.step()) sessions.push_back(readSession(rows, name));
  return sessions;
}

Chart StoreReader::chart(const ChartQuery& query) const {
  if (query.max_buckets < 2) throw Error("a chart needs at least 2 buckets");
  const std::optional<Extent> all = impl_->extent(query.source);
  if (!all) return {};
  const UnixMs from = std::max(query.from, all->first), to = std::min(query.to, all->last + 1);
  if (from >= to) return {};
  const std::int64_t longest_step = impl_->longestStep(query.source, from, to);

  // Samples, unless there are too many or retention took some of the stretch.
  const std::optional<Extent> kept = impl_->sampleExtent(query.source);
  if (kept && kept->first <= from && impl_->countSamples(query.source, from, to, kMaxRows + 1) <= kMaxRows) {
    ChartBuilder builder(query, widthFor(from, to, kSecondMs, query.max_buckets), longest_step);
    samples(query.source, from, to, [&](const Sample& sample) {
      builder.add(sample.time, sample);
      return true;
    });
    return builder.take();
  }
  std::int64_t level = kDayMs;
  for (std::int64_t width : kBucketWidths) {
    const std::optional<Extent> stored = impl_->bucketExtent(query.source, width);
    if (!stored || stored->first > bucketStart(from, width) || (to - from) / width > kMaxRows) continue;
    level = width;
    break;
  }
  ChartBuilder builder(query, widthFor(bucketStart(from, level), to, level, query.max_buckets), longest_step);
  Statement rows = impl_->database.prepare(
      "SELECT start_ms, samples, day, night, series FROM bucket WHERE source = ? AND width_ms = ? AND start_ms >= ? AND"
      " start_ms < ? ORDER BY start_ms");
  rows.bind(query.source, level, bucketStart(from, level), to);
  while (rows.step()) {
    Bucket bucket;
    bucket.samples = rows.integer(1);
    bucket.day = rows.integer(2);
    bucket.night = rows.integer(3);
    bucket.unpack(rows.blob(4));
    builder.add(rows.integer(0), bucket);
  }
  return builder.take();
}

std::int64_t StoreReader::count(std::int64_t source, UnixMs from, UnixMs to) const {
  return impl_->countSamples(source, from, to, std::numeric_limits<std::int64_t>::max());
}

void StoreReader::samples(std::int64_t source, UnixMs from, UnixMs to,
                          const std::function<bool(const Sample&)>& visit) const {
  Statement rows = impl_->database.prepare(std::string("SELECT ") + kSampleColumns +
                                           " FROM sample WHERE source = ? AND time_ms >= ? AND time_ms < ?"
                                           " ORDER BY time_ms, id");
  rows.bind(source, from, to);
  while (rows.step())
    if (!visit(readSample(rows))) return;
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
  std::reverse(events.begin(), events.end());
  return events;
}

std::vector<HourOfTokens> StoreReader::hoursOfTokens(std::int64_t source, UnixMs from, UnixMs to) const {
  Statement rows = impl_->database.prepare(
      "SELECT start_ms, night, occurrences FROM hour_of_tokens WHERE session IN (SELECT same.id FROM session AS same,"
      " (SELECT * FROM session WHERE source = ?1 ORDER BY id DESC LIMIT 1) AS latest WHERE same.source = ?1"
      " AND same.schedule = latest.schedule AND same.tokens = latest.tokens AND same.classes = latest.classes"
      // The file's contents say whether it is the same model; its name does where an older version noted no digest.
      " AND CASE WHEN same.model_digest = '' OR latest.model_digest = ''"
      " THEN same.model = latest.model AND same.model_name = latest.model_name"
      " ELSE same.model_digest = latest.model_digest END)"
      " AND start_ms >= ?2 AND start_ms < ?3");
  rows.bind(source, from < 0 ? from : bucketStart(from, kHourMs), to);
  std::map<std::pair<UnixMs, bool>, std::map<std::int32_t, std::int64_t>> hours;  // two sessions may share an hour
  while (rows.step()) addOccurrences(rows.blob(2), hours[{rows.integer(0), rows.integer(1) != 0}]);
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
