// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "base/json_file.h"
#include "evaluation/confusion_matrix.h"
#include "monitor/store/kept.h"
#include "monitor/store/store_reader_impl.h"
#include "mpm/error.hpp"
#include "vision/sources/source_spec.h"

namespace mpm::monitor {
namespace {

std::vector<std::string> classesIn(const std::string& json) {
  std::vector<std::string> classes;
  try {
    for (const JsonValue& name : JsonValue(json, "classes").list())
      classes.push_back(name.json().is_string() ? name.text() : "");
  } catch (const Error&) {  // another program wrote it
  }
  return classes;
}

std::optional<evaluation::ConfusionMatrix> validationIn(const std::string& json, std::size_t classes) {
  try {
    return evaluation::confusionMatrixOf({json, "cross_validation"}, static_cast<int>(classes));
  } catch (const Error&) {  // none, or of other classes
    return std::nullopt;
  }
}

std::map<std::string, std::string> headsIn(std::string_view text) {
  std::map<std::string, std::string> heads;
  const Json json = text.empty() ? Json() : Json::parse(text, nullptr, false);
  if (json.is_object()) {
    for (const auto& [name, digest] : json.items())
      if (digest.is_string()) heads[name] = digest.get<std::string>();
  }
  return heads;
}

// A zone that this machine does not know, of a database from elsewhere, must not hide what is stored.
charts::OptionalClock clockOf(const std::string& zone) try {
  return zone.empty() ? std::nullopt : charts::OptionalClock(vision::CameraClock(zone));
} catch (const Error&) {
  return vision::CameraClock();
}

SessionRecord readSession(const Statement& row, const std::string& source) {
  SessionRecord session;
  session.source = source;
  std::string classes, validation, heads;
  row.read(session.id, session.series, session.started, session.ended, session.model, session.model_name,
           session.reduce, session.precision, session.tokens, classes, session.every_s, session.latitude,
           session.longitude, session.time_zone, session.model_digest, validation, session.night_rule, session.times,
           session.settings, heads);
  if (!session.latitude || !session.longitude) session.latitude = session.longitude = std::nullopt;
  session.classes = classesIn(classes);
  session.cross_validation = validationIn(validation, session.classes.size());
  session.heads = headsIn(heads);
  return session;
}

// Where the view of a source had moved to, of one sample after the other by time. Where that is not sure, it is as of
// the last sample before for which it is, or not moved at all where the view has become another one since.
class ViewOffsets {
 public:
  ViewOffsets(const Database& database, std::int64_t source) : database_(database), source_(source) {}

  ViewMotion of(const Sample& sample) {
    if (sample.measured_offset) {
      last_ = {sample.time, *sample.measured_offset};
      return last_.offset;
    }
    if (!turned_) {
      turned_ = warningsOf(database_, source_, EventKind::kView, INT64_MIN, INT64_MAX);
      if (last_.time == INT64_MIN) lookBack(sample.time);
    }
    const auto turned = std::ranges::upper_bound(*turned_, last_.time);
    return turned != turned_->end() && *turned <= sample.time ? ViewMotion() : last_.offset;
  }

 private:
  // So many samples are looked at that a year of dark pictures takes no second.
  void lookBack(UnixMs time) {
    constexpr int kFarthest = 10000;
    Statement row = database_.prepare(
        "SELECT * FROM (SELECT time_ms, moved_right, moved_down, turned, zoomed FROM sample WHERE source = ? AND"
        " time_ms < ? ORDER BY time_ms DESC LIMIT ?) WHERE moved_right IS NOT NULL ORDER BY time_ms DESC LIMIT 1");
    if (row.bind(source_, time, kFarthest).step())
      row.read(last_.time, last_.offset.right, last_.offset.down, last_.offset.turn, last_.offset.zoom);
  }

  struct {
    UnixMs time = INT64_MIN;  // of the sample
    ViewMotion offset{};
  } last_;
  const Database& database_;
  std::int64_t source_;
  std::optional<std::vector<UnixMs>> turned_{};  // when the view became another one
};

// By their latest sessions.
constexpr const char* kLatestLast = " ORDER BY (SELECT max(id) FROM session WHERE session.series = series.id), id";

}  // namespace

std::string samplesWhere(const std::optional<std::int64_t>& series) {
  return std::string("sample.source = ?1 AND time_ms >= ?2 AND time_ms < ?3") +
         (series ? " AND (SELECT series FROM session WHERE id = sample.session) = ?4" : "");
}

std::string StoreReader::Impl::sourceName(std::int64_t source) const {
  Statement row = database.prepare("SELECT name FROM source WHERE id = ?");
  if (!row.bind(source).step()) throw Error("the database has no source " + std::to_string(source));
  return std::string(row.text(0));
}

std::vector<std::int64_t> StoreReader::Impl::seriesOf(std::int64_t source) const {
  std::vector<std::int64_t> ids;
  Statement rows = database.prepare(std::string("SELECT id FROM series WHERE source = ?") + kLatestLast);
  rows.bind(source);
  while (rows.step()) ids.push_back(rows.integer(0));
  return ids;
}

std::optional<Extent> StoreReader::Impl::extent(std::int64_t source, UnixMs from, UnixMs to) const {
  std::optional<Extent> all =
      extentOf("time_ms", "sample WHERE source = ?1 AND time_ms >= ?2 AND time_ms < ?3", source, from, to);
  for (const std::int64_t series : seriesOf(source)) {
    for (std::int64_t width : kBucketWidths) {
      const std::optional<Extent> level =
          extentOf("start_ms", "bucket WHERE series = ?1 AND width_ms = ?2 AND start_ms >= ?3 AND start_ms < ?4",
                   series, width, from, to);
      if (!level) continue;
      if (!all) {
        all = Extent{level->first, level->last + width - 1};
      } else {
        // While samples are kept from the bucket's stretch on, they say it exactly.
        if (level->first + width <= all->first) all->first = level->first;
        if (level->last > all->last) all->last = level->last + width - 1;
      }
    }
  }
  if (all && to < INT64_MAX) all->last = std::min(all->last, to - 1);
  return all;
}

std::int64_t StoreReader::Impl::countSamples(std::int64_t source, UnixMs from, UnixMs to, std::int64_t limit,
                                             std::optional<std::int64_t> series) const {
  Statement row =
      database.prepare("SELECT count(*) FROM (SELECT 1 FROM sample WHERE " + samplesWhere(series) + " LIMIT ?5)");
  row.bind(source, from, to, series, limit).step();
  return row.integer(0);
}

// Samples go oldest first, so the sums behind that of the first one are whole. They are read in a millisecond where
// counting the rows of a year would take a second.
std::int64_t StoreReader::Impl::count(std::int64_t source, UnixMs from, UnixMs to, std::optional<std::int64_t> series,
                                      std::size_t level) const {
  if (from >= to) return 0;
  const std::int64_t width = kBucketWidths[level];
  if (width == kMinuteMs) return countSamples(source, from, to, std::numeric_limits<std::int64_t>::max(), series);
  const UnixMs begin = bucketStart(from - 1, width) + width, end = bucketStart(to, width);
  if (begin >= end) return count(source, from, to, series, level - 1);
  // Without its name SQLite would read the table. The width stands in the query as a number, because an index of some
  // rows serves only queries that ask for no others.
  const std::string rows = width == kDayMs ? "bucket INDEXED BY samples_of_days" : "bucket";
  return count(source, from, begin, series, level - 1) +
         database.integer("SELECT total(samples) FROM " + rows +
                              " WHERE series IN (SELECT id FROM series WHERE source = ?1 AND coalesce(id = ?2, 1)) AND"
                              " width_ms = " +
                              std::to_string(width) + " AND start_ms >= ?3 AND start_ms < ?4 AND region = 0",
                          source, series, begin, end) +
         count(source, end, to, series, level - 1);
}

void StoreReader::Impl::visit(std::int64_t source, UnixMs from, UnixMs to, SampleRows::With with,
                              std::optional<std::int64_t> series, const std::function<bool(Sample&)>& visit) const {
  SampleRows rows(database, with, samplesWhere(series));
  series ? rows.bind(source, from, to, *series) : rows.bind(source, from, to);
  for (Sample sample; rows.next(sample);)
    if (!visit(sample)) return;
}

std::map<std::int64_t, std::string> StoreReader::Impl::regionNames(std::int64_t source) const {
  std::map<std::int64_t, std::string> names = {{0, ""}};
  Statement rows = database.prepare("SELECT id, name FROM region WHERE source = ?");
  rows.bind(source);
  while (rows.step()) names.emplace(rows.integer(0), rows.text(1));
  return names;
}

StoreReader::StoreReader(const std::string& path) {
  std::optional<ConvertedFrom> converted;
  Database database = openForReading(path, &converted);
  impl_.reset(new Impl{std::move(database), path, identityOf(path), converted});
}
StoreReader::~StoreReader() = default;
StoreReader::StoreReader(StoreReader&&) noexcept = default;
StoreReader& StoreReader::operator=(StoreReader&&) noexcept = default;

void StoreReader::setDeadline(std::int64_t steady) { impl_->database.setDeadline(steady); }

bool StoreReader::Impl::ownClock(std::int64_t source) const {
  Statement row = database.prepare("SELECT archive, name FROM source WHERE id = ?");
  return row.bind(source).step() && (row.integer(0) != 0 || vision::isSceneName(row.text(1)));
}

std::optional<Extent> StoreReader::Impl::believedExtent(std::int64_t source, UnixMs now) const {
  const BelievedTimes times(now);
  std::optional<Extent> believed;
  if (!ownClock(source)) believed = extent(source, times.from, times.to);
  return believed ? believed : extent(source);
}

std::vector<SourceRecord> StoreReader::sources(UnixMs now) const {
  std::vector<SourceRecord> sources;
  Statement rows = impl_->database.prepare(
      "SELECT id, name, archive, (SELECT time_zone FROM session WHERE source = source.id ORDER BY time_zone IS NULL,"
      " id DESC LIMIT 1) FROM source ORDER BY id");
  while (rows.step()) {
    SourceRecord& source = sources.emplace_back();
    rows.read(source.id, source.name, source.archive, source.time_zone);
    source.clock = clockOf(source.time_zone);
    source.own_clock = impl_->ownClock(source.id);
    if (const auto extent = impl_->believedExtent(source.id, now)) {
      source.first = extent->first;
      source.last = extent->last;
    }
    source.end = std::max(source.last + 1, source.own_clock ? 0 : now + kMinuteMs);
    source.awaited = awaited(source.id, now);
  }
  return sources;
}

std::vector<SeriesRecord> StoreReader::series(std::int64_t source) const {
  std::vector<SeriesRecord> all;
  Statement rows = impl_->database.prepare(
      std::string("SELECT id, number, model, model_name, schedule, precision, tokens, classes, model_digest,"
                  " cross_validation, settings FROM series WHERE source = ?") +
      kLatestLast);
  rows.bind(source);
  while (rows.step()) {
    SeriesRecord& one = all.emplace_back();
    std::string classes, validation;
    rows.read(one.id, one.number, one.model, one.model_name, one.reduce, one.precision, one.tokens, classes,
              one.model_digest, validation, one.settings);
    one.classes = classesIn(classes);
    one.cross_validation = validationIn(validation, one.classes.size());
  }
  return all;
}

std::optional<std::int64_t> StoreReader::seriesOf(std::int64_t source, const Measuring& measuring) const {
  return findSeries(impl_->database, source, measuring);
}

UnixMs StoreReader::viewSince(const SourceRecord& source, UnixMs time) const {
  const auto turned = warningsOf(impl_->database, source.id, EventKind::kView, source.first, time + 1);
  return turned.empty() ? source.first : turned.back();
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
  Statement row = impl_->database.prepare("SELECT " + privacyOf(impl_->database, "source", "main") +
                                          " FROM (SELECT ? AS wanted) LEFT JOIN source ON name = wanted");
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
  Statement rows = impl_->database.prepare(
      "SELECT session.id, series.id, started_ms, ended_ms, model, model_name, schedule, precision, tokens, classes,"
      " every_s, latitude, longitude, time_zone, model_digest, cross_validation, night_rule, times, settings, heads"
      " FROM session JOIN series ON series.id = session.series WHERE session.source = ? ORDER BY session.id");
  rows.bind(source);
  while (rows.step()) sessions.push_back(readSession(rows, name));
  return sessions;
}

std::set<std::optional<std::string>> StoreReader::nightRules(std::int64_t series, UnixMs from, UnixMs to) const {
  std::set<std::optional<std::string>> rules, all;
  const auto read = [](Statement& rows, auto& into) {
    while (rows.step()) into.insert(rows.isNull(0) ? std::nullopt : std::optional<std::string>(rows.text(0)));
  };
  Statement each = impl_->database.prepare("SELECT DISTINCT night_rule FROM session WHERE series = ?");
  read(each.bind(series), all);
  if (all.size() < 2) return all;
  const std::int64_t source = impl_->database.integer("SELECT source FROM series WHERE id = ?", series);
  if (!impl_->ownClock(source)) {
    Statement meanwhile = impl_->database.prepare(
        "SELECT DISTINCT night_rule FROM session"
        " WHERE series = ?1 AND started_ms < ?3 AND coalesce(ended_ms, ?2) >= ?2");
    read(meanwhile.bind(series, from, to), rules);
  }
  // Sessions may have the times of another clock than their samples, or of one that was wrong.
  Statement measured = impl_->database.prepare(
      "SELECT DISTINCT night_rule FROM session WHERE series = ?1 AND id IN"
      " (SELECT session FROM sample WHERE source = ?4 AND time_ms >= ?2 AND time_ms < ?3)");
  if (rules.size() < all.size()) read(measured.bind(series, from, to, source), rules);
  return rules.empty() ? all : rules;
}

bool StoreReader::running(std::int64_t source) const {
  return impl_->database.integer("SELECT ended_ms IS NULL FROM session WHERE source = ? ORDER BY id DESC LIMIT 1",
                                 source) != 0;
}

std::int64_t StoreReader::count(std::int64_t source, UnixMs from, UnixMs to, std::optional<std::int64_t> series) const {
  const std::optional<Extent> kept =
      impl_->extentOf("time_ms", "sample WHERE source = ?1 AND time_ms >= ?2 AND time_ms < ?3", source, from, to);
  if (!kept) return 0;
  // Before this time samples may lie beside sums of forgotten ones.
  const UnixMs mixed = std::clamp(keptFrom(impl_->database, source)[kSampleLevel], kept->first, kept->last + 1);
  return impl_->countSamples(source, kept->first, mixed, std::numeric_limits<std::int64_t>::max(), series) +
         impl_->count(source, mixed, kept->last + 1, series, kBucketWidths.size() - 1);
}

void StoreReader::pictures(std::int64_t series,
                           const std::function<void(const std::string&, UnixMs, std::int64_t)>& visit) const {
  Statement rows = impl_->database.prepare(
      "SELECT picture, time_ms, picture_digest FROM sample WHERE source = (SELECT source FROM series WHERE id = ?1)"
      " AND (SELECT series FROM session WHERE id = sample.session) = ?1");
  rows.bind(series);
  while (rows.step()) visit(std::string(rows.text(0)), rows.integer(1), rows.integer(2));
}

void StoreReader::samples(std::int64_t source, UnixMs from, UnixMs to, const std::function<bool(const Sample&)>& visit,
                          std::optional<std::int64_t> series) const {
  ViewOffsets offsets(impl_->database, source);
  impl_->visit(source, from, to, SampleRows::With::kStates, series, [&](Sample& sample) {
    sample.view_offset = offsets.of(sample);
    return visit(sample);
  });
}

std::vector<Sample> StoreReader::lastSamples(std::int64_t source, int limit, UnixMs until,
                                             std::optional<std::int64_t> series) const {
  Statement first = impl_->database.prepare("SELECT time_ms FROM sample WHERE " + samplesWhere(series) +
                                            " ORDER BY time_ms DESC LIMIT 1 OFFSET ?5");
  first.bind(source, INT64_MIN, until, series, limit - 1);
  const UnixMs from = first.step() ? first.integer(0) : INT64_MIN;
  std::vector<Sample> samples;
  const auto take = [&](const Sample& sample) {
    samples.push_back(sample);
    return true;
  };
  this->samples(source, from, until, take, series);
  return samples;
}

std::optional<Sample> StoreReader::lastSample(const SourceRecord& source, std::int64_t series) const {
  const std::optional<std::int64_t> of = series;
  const UnixMs end = source.last + 1;
  Statement time = impl_->database.prepare("SELECT time_ms FROM sample WHERE " + samplesWhere(of) +
                                           " ORDER BY time_ms DESC LIMIT 1");
  std::optional<Sample> last;
  if (time.bind(source.id, source.first, end, of).step()) {
    impl_->visit(source.id, time.integer(0), end, SampleRows::With::kStates, of, [&](Sample& sample) {
      last = std::move(sample);
      return true;
    });
  }
  return last;
}

UnixMs StoreReader::endOf(const SourceRecord& source, std::int64_t series) const {
  if (const auto last = lastSample(source, series)) return last->time + 1;
  const UnixMs end = source.last + 1;
  for (const std::int64_t width : {kHourMs, kDayMs}) {
    const auto sums =
        impl_->extentOf("start_ms", "bucket WHERE series = ?1 AND width_ms = ?2 AND start_ms >= ?3 AND start_ms < ?4",
                        series, width, bucketStart(source.first, width), end);
    if (sums) return std::min(end, sums->last + width);
  }
  return end;
}

std::optional<LastSample> StoreReader::lastSample(const SourceRecord& source, std::vector<SeriesRecord> all) const {
  for (; !all.empty(); all.pop_back()) {
    if (auto sample = lastSample(source, all.back().id))
      return LastSample{.series = std::move(all.back()), .sample = std::move(*sample)};
  }
  return std::nullopt;
}

std::vector<AlarmState> StoreReader::alarms(std::int64_t source) const {
  std::vector<AlarmState> states;
  Statement rows = impl_->database.prepare(
      "SELECT json_extract(alarms, fullkey || '.rule'), json_extract(alarms, fullkey || '.since_ms'),"
      " json_extract(alarms, fullkey || '.rings') FROM source, json_each(alarms)"
      " WHERE source.id = ? AND json_valid(alarms) ORDER BY 1");
  rows.bind(source);
  while (rows.step()) {
    AlarmState& one = states.emplace_back();
    rows.read(one.rule, one.since, one.rings);
  }
  return states;
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
  while (rows.step()) {
    events.push_back({rows.integer(0), static_cast<EventKind>(rows.integer(1)), static_cast<Severity>(rows.integer(2)),
                      std::string(rows.text(3))});
  }
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

std::map<std::string, std::string> StoreReader::announced() const {
  std::map<std::string, std::string> all;
  Statement rows =
      impl_->database.prepare("SELECT key, value FROM database, json_each(announced) WHERE json_valid(announced)");
  while (rows.step()) all.emplace(rows.text(0), rows.text(1));
  return all;
}

std::int64_t StoreReader::waiting() const { return impl_->database.integer("SELECT count(*) FROM outbox"); }

bool StoreReader::isCopy() const { return impl_->converted.has_value(); }

bool StoreReader::current() const {
  if (impl_->converted) return *impl_->converted == stateOf(impl_->path);
  const char* name = sqlite3_db_filename(impl_->database.handle(), "main");
  return !sqlite3_uri_boolean(name, "immutable", 0) && identityOf(impl_->path) == impl_->identity;
}

}  // namespace mpm::monitor
