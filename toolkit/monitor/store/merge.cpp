// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/json_file.h"
#include "base/visible_text.h"
#include "monitor/store/bucket.h"
#include "monitor/store/kept.h"
#include "monitor/store/merge.h"
#include "monitor/store/schema.h"
#include "monitor/store/store_reader.h"
#include "monitor/store/store_writer.h"
#include "monitor/store/sum_up.h"
#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

// Copies a table of the attached part. `number`: what replaces a column that is a number of another table, or the
// row's own; an empty text leaves the column out.
void copy(Database& database, const std::string& table, const std::map<std::string, std::string>& number,
          const std::string& where = "") {
  std::string columns, values;
  for (const std::string& column : columnsOf(database, table, "part")) {
    const auto other = number.find(column);
    if (other != number.end() && other->second.empty()) continue;
    columns += (columns.empty() ? "" : ", ") + column;
    values += (values.empty() ? "" : ", ") + (other == number.end() ? column : other->second);
  }
  database.execute("INSERT INTO main." + table + "(" + columns + ") SELECT " + values + " FROM part." + table + where);
}

// A part as it can be attached: of one with the schema of version 0.1.0 a converted copy, which is removed at the end.
class Attachable {
 public:
  // Says what is wrong with the part. `scratch`: a file for a copy.
  Attachable(const std::string& part, const std::string& scratch) : file_(part) {
    std::optional<ConvertedFrom> converted;
    const Database read = openForReading(part, &converted);
    if (!converted) return;
    copied_ = true;
    file_ = scratch;
    try {
      read.prepare("VACUUM INTO ?").run(scratch);
    } catch (...) {
      removeDatabase(scratch);
      throw;
    }
  }
  Attachable(const Attachable&) = delete;
  Attachable& operator=(const Attachable&) = delete;
  ~Attachable() {
    if (copied_) removeDatabase(file_);
  }
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  bool copied_ = false;
};

// Runs `work` in one transaction, in which the part is attached under the name `part`.
template <typename Work>
void withPart(Database& database, const std::string& part, const Attachable& attachable, Work work) try {
  database.run("ATTACH ? AS part", attachable.file());
  try {
    Transaction transaction(database);
    work();
    transaction.commit();
  } catch (...) {
    database.execute("DETACH part");
    throw;
  }
  database.execute("DETACH part");
} catch (const SqliteError& error) {  // which names the whole
  if (error.isDamage()) throw Error("'" + part + "' is damaged, or the disk of the new file is");
  throw;
}

// Two series are one: they are measured alike, of an archive for the same time, of a camera by the same heads of
// states. Both have a source of the same name; `archive`: what says that it is one.
std::string sameSeries(const std::string& a, const std::string& b, const std::string& archive) {
  std::string same = a + ".settings IS " + b + ".settings AND iif(" + archive + ", " + a + ".round = " + b +
                     ".round, " + sameHeads(a + ".heads", b + ".heads") + ")";
  for (const char* column : {"model_digest", "schedule", "precision", "tokens", "classes"})
    same += " AND " + a + "." + column + " = " + b + "." + column;
  return same;
}

// What is in the whole was learned with other parts of the picture on show, or its pictures hide less.
void refuseOtherPrivacy(const Database& database, const std::string& part, const std::string& source) {
  Statement other = database.prepare(
      "SELECT 1 FROM part.source p JOIN main.source m USING(name)"
      " WHERE name = ? AND " +
      privacyOf(database, "p", "part") + " <> " + privacyOf(database, "m", "main"));
  if (other.bind(source).step()) {
    throw Error("'" + part + "' hides other parts of '" + visibleText(source) +
                "' than another database does: run 'mpm monitor --recompute all' with one --hide and --blur");
  }
}

// All numbers of the first lie between those of the second.
bool liesWithin(const Bucket& one, const Bucket& other) {
  const auto within = [&](const Quantity& quantity) {
    const Spread inner = one.spread(quantity.key), outer = other.spread(quantity.key);
    return inner.samples <= outer.samples && (inner.samples == 0 || (inner.min >= outer.min && inner.max <= outer.max));
  };
  return one.samples <= other.samples && std::ranges::all_of(quantities(), within);
}

// `same_id`: a part that is in the whole is the same database, of which one is a copy.
void refuseTwice(const Database& database, const std::string& part, const std::string& source, bool same_id) {
  Statement twice = database.prepare(
      "SELECT p.picture, p.time_ms FROM part.sample p JOIN part.source s ON s.id = p.source JOIN main.source m ON "
      "m.name = s.name"
      " JOIN main.sample q ON q.source = m.id AND q.time_ms = p.time_ms AND q.picture = p.picture"
      " AND q.picture_digest = p.picture_digest JOIN main.session t ON t.id = q.session JOIN main.series u ON u.id ="
      " t.series JOIN part.session v ON v.id = p.session JOIN part.series w ON w.id = v.series WHERE s.name = ? AND " +
      sameSeries("u", "w", "m.archive") + " LIMIT 1");
  if (twice.bind(source).step()) {
    throw Error("'" + part + "' holds what another part holds: " +
                (twice.text(0).empty() ? "the sample of " + isoTime(twice.integer(1), true)
                                       : "picture '" + visibleText(twice.text(0)) + "'"));
  }
  // Of a copy of a camera's database the samples of either may be forgotten: then watches and sums tell. A watch that
  // went on in a new file (StoreWriter::storeIn()) is in both, and its sums are not. The last hour of a copy was not
  // over when it was made.
  Statement copied = database.prepare(
      "WITH one AS MATERIALIZED (SELECT w.id AS mine, u.id AS known FROM part.source s JOIN main.source m ON m.name ="
      " s.name JOIN part.series w ON w.source = s.id JOIN main.series u ON u.source = m.id AND " +
      sameSeries("u", "w", "m.archive") +
      " WHERE s.name = ?1 AND NOT m.archive AND EXISTS(SELECT 1 FROM part.session v JOIN main.session t ON t.series ="
      " u.id AND t.started_ms = v.started_ms WHERE v.series = w.id)) SELECT q.samples, q.sums, b.samples, b.sums,"
      " q.start_ms FROM one JOIN part.bucket q ON q.series = mine AND q.width_ms >= ?2 AND q.region = 0 JOIN"
      " main.bucket b ON b.series = known AND b.width_ms = q.width_ms AND b.start_ms = q.start_ms AND b.region = 0 AND"
      " b.night = q.night");
  copied.bind(source, kHourMs);
  while (copied.step()) {
    const Bucket mine(copied, 0), known(copied, 2);
    const bool equal = mine.samples == known.samples && copied.blob(1) == copied.blob(3);
    if (equal || (same_id && (liesWithin(mine, known) || liesWithin(known, mine)))) {
      throw Error("'" + part + "' holds what another part holds: samples of the hour from " +
                  isoTime(copied.integer(4), true));
    }
  }
}

// A series that another part has, too, is the same one. One by one: the heads of one series may be those of the next.
void copySeries(Database& database) {
  database.execute("CREATE TEMP TABLE measured(part INTEGER NOT NULL, whole INTEGER NOT NULL)");
  std::vector<std::pair<std::int64_t, std::int64_t>> parts;  // and their sources of the whole
  Statement rows =
      database.prepare("SELECT id, whole FROM part.series JOIN place ON place.part = source ORDER BY number");
  while (rows.step()) parts.emplace_back(rows.integer(0), rows.integer(1));
  const std::string known =
      "SELECT m.id FROM part.series p JOIN main.series m JOIN main.source s ON s.id = m.source WHERE p.id = ?"
      " AND s.id = ? AND " +
      sameSeries("m", "p", "s.archive") +
      " ORDER BY (SELECT max(id) FROM main.session t WHERE t.series = m.id) DESC LIMIT 1";
  for (const auto& [part, source] : parts) {
    std::int64_t whole = database.integer(known, part, source);
    if (whole != 0) {
      database.run(
          "UPDATE main.series SET heads = json_patch(coalesce(heads, '{}'), (SELECT coalesce(heads, '{}') FROM"
          " part.series WHERE id = ?)) WHERE id = ?",
          part, whole);
    } else {
      const std::int64_t last = database.integer("SELECT max(number) FROM main.series WHERE source = ?", source);
      copy(
          database, "series",
          {{"id", ""}, {"source", std::to_string(source)}, {"number", std::to_string(last + 1)}, {"events_before", ""}},
          " WHERE id = " + std::to_string(part));
      whole = database.lastId();
    }
    database.run("INSERT INTO measured VALUES(?, ?)", part, whole);
  }
}

// Two parts may have samples of one hour.
void addSums(Database& database) {
  constexpr std::size_t kSumsAtOnce = 20000;
  Statement rows = database.prepare(
      "SELECT samples, sums, tokens, measured.whole, width_ms, start_ms, coalesce(area.whole, 0), night FROM "
      "part.bucket"
      " JOIN measured ON measured.part = series LEFT JOIN area ON area.part = region");
  BucketUpdate sums;
  while (rows.step()) {
    TokenCounts tokens;
    addTokenCounts(rows, 2, tokens);
    sums.add({rows.integer(3), rows.integer(4), rows.integer(5), rows.integer(6), sideIn(rows, 7)}, Bucket(rows, 0),
             tokens);
    if (sums.size() >= kSumsAtOnce) sums.write(database);
  }
  sums.write(database);
}

// What is of no source, or of one that gave no sample yet, which is 0.
void copyEventsOfNoSource(Database& database) {
  copy(database, "event", {{"id", ""}}, " WHERE source IS NULL OR source = 0");
}

// Copies all that the attached part has of the source with this name.
void copySource(Database& database, const std::string& name) {
  database.run("INSERT INTO main.source(name, archive, privacy) SELECT name, archive, " +
                   privacyOf(database, "p", "part") + " FROM part.source p WHERE name = ? ON CONFLICT DO NOTHING",
               name);
  database.execute("CREATE TEMP TABLE place(part INTEGER NOT NULL, whole INTEGER NOT NULL)");
  database.run("INSERT INTO place SELECT p.id, m.id FROM part.source p JOIN main.source m USING(name) WHERE name = ?",
               name);
  const std::string of_source = " WHERE source IN (SELECT part FROM place)",
                    of_samples = " WHERE sample IN (SELECT id FROM part.sample" + of_source + ")";
  const std::string source = "(SELECT whole FROM place WHERE part = source)";
  database.execute(  // a watch goes on with the alarms of the latest part
      "UPDATE main.source SET alarms = p.alarms FROM place JOIN part.source p ON p.id = place.part"
      " WHERE main.source.id = place.whole");
  copySeries(database);
  const std::string series = "(SELECT whole FROM measured WHERE part = series)";
  const auto after = [&](const std::string& table, const std::string& column) {
    return column + " + " + std::to_string(database.integer("SELECT coalesce(max(id), 0) FROM main." + table));
  };
  const std::string session = after("session", "session"), sample = after("sample", "sample");
  copy(database, "session", {{"id", after("session", "id")}, {"source", source}, {"series", series}}, of_source);
  copy(database, "sample", {{"id", after("sample", "id")}, {"source", source}, {"session", session}}, of_source);
  // A region that another part has, too, is the same one.
  const std::string same = "m.shape = region.shape AND m.source = (SELECT whole FROM place WHERE part = region.source)";
  const std::string known = "(SELECT id FROM main.region m WHERE " + same + ")";
  copy(database, "region", {{"id", ""}, {"source", source}}, of_source + " AND NOT EXISTS " + known);
  database.execute("CREATE TEMP TABLE area AS SELECT id AS part, " + known + " AS whole FROM part.region" + of_source);
  database.execute(  // samples to come are measured as in the latest part
      "UPDATE main.region SET current = EXISTS(SELECT 1 FROM area JOIN part.region r ON r.id = area.part WHERE"
      " area.whole = main.region.id AND r.current) WHERE source IN (SELECT whole FROM place)");
  const std::string area = "(SELECT whole FROM area WHERE part = region)";
  copy(database, "region_sample", {{"sample", sample}, {"region", "coalesce(" + area + ", 0)"}}, of_samples);
  copy(database, "state_sample", {{"sample", sample}}, of_samples);
  // A part of an archive begins with no state that counts: that of another part goes on until it has one. Two parts may
  // begin a state in the same moment: the state of the later part counts, where it is known.
  copy(database, "state_change", {{"series", series}},
       " AS one WHERE series IN (SELECT part FROM measured) AND NOT (state = '' AND (SELECT archive FROM part.source"
       " JOIN place ON place.part = id) AND time_ms = (SELECT min(time_ms) FROM part.state_change other WHERE"
       " other.series = one.series AND other.name = one.name)) ON CONFLICT(series, name, time_ms)"
       " DO UPDATE SET state = excluded.state WHERE excluded.state <> ''");
  copy(database, "event", {{"id", ""}, {"source", source}}, of_source);
  database.execute(  // where the view is was found by the latest part that looked
      "DELETE FROM main.view_reference WHERE source IN"
      " (SELECT whole FROM place JOIN part.view_reference v ON v.source = place.part)");
  copy(database, "view_reference", {{"source", source}}, of_source);
  addSums(database);
  database.execute("DROP TABLE place; DROP TABLE area; DROP TABLE measured");
}

// The parts that have a source, in the order in which they are copied.
struct PartsOfSource {
  std::string name{};
  std::int64_t id = 0;  // the smallest that it has in a part: by it the sources keep their order
  std::vector<std::string> parts{};
};

// What a part has of one source.
struct PieceOfSource {
  std::string part{};
  bool archive = false;
  UnixMs last = 0;
  std::int64_t samples = 0;
  std::string latest{};  // series, as text
};

// The parts of each source; what the last one measured is the latest of the whole. Of a camera it is the part with the
// latest sample. Parts of an archive were measured at any time: last come those whose latest series is the one that
// most parts have as their latest; of as many, the one with more samples in these parts; then the one whose text is
// later; of parts of one series, that with the latest sample. So the order in which a shell names the parts decides
// nothing, nor does another source.
std::vector<PartsOfSource> inTurn(const std::vector<std::string>& parts) {
  std::map<std::string, std::vector<PieceOfSource>> pieces;
  std::map<std::string, std::int64_t> ids;
  for (const std::string& part : parts) {
    const StoreReader store(part);
    for (const SourceRecord& source : store.sources()) {
      PieceOfSource& piece =
          pieces[source.name].emplace_back(part, source.archive, source.last, store.count(source.id));
      const auto known = ids.emplace(source.name, source.id).first;
      known->second = std::min(known->second, source.id);
      const std::vector<SeriesRecord> all = store.series(source.id);
      if (all.empty()) continue;
      const Measuring& last = all.back();
      piece.latest = toLine({last.model_digest, last.reduce, last.precision, last.settings, last.tokens, last.classes});
    }
  }
  std::vector<PartsOfSource> sources;
  for (auto& [name, of_source] : pieces) {
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> series;  // parts and samples
    for (const PieceOfSource& one : of_source) {
      auto& [parts_of_series, samples] = series[one.latest];
      ++parts_of_series;
      samples += one.samples;
    }
    std::ranges::stable_sort(of_source, {}, [&](const PieceOfSource& one) {
      return std::tuple(one.archive ? 0 : one.last, series[one.latest], one.latest, one.last);
    });
    PartsOfSource& source = sources.emplace_back(name, ids[name]);
    for (const PieceOfSource& one : of_source) source.parts.push_back(one.part);
  }
  std::ranges::stable_sort(sources, {}, &PartsOfSource::id);
  return sources;
}

// The samples of the parts follow each other in turn.
void settleSources(Database& database) {
  Transaction transaction(database);
  std::vector<std::int64_t> all;
  Statement sources = database.prepare("SELECT id FROM source");
  while (sources.step()) all.push_back(sources.integer(0));
  database.execute("UPDATE source SET unsettled = " + std::to_string(kOlderCame) + " WHERE archive");
  for (const std::int64_t source : all) {
    settle(database, source, std::nullopt);
    joinStates(database, source);
  }
  transaction.commit();
}

}  // namespace

void mergeDatabases(const std::vector<std::string>& parts, const std::string& into) {
  if (std::filesystem::exists(into)) throw Error("'" + into + "' exists already: name a new file");
  try {
    Database database = openForWriting(into, true);
    std::map<std::string, Attachable> attachable;
    for (const std::string& part : parts) {
      const auto& one =
          attachable.try_emplace(part, part, into + "-part" + std::to_string(attachable.size())).first->second;
      withPart(database, part, one, [&] { copyEventsOfNoSource(database); });
    }
    for (const PartsOfSource& source : inTurn(parts)) {
      std::set<std::string> ids;
      for (const std::string& part : source.parts) {
        const Database read = openForReading(attachable.at(part).file());
        const bool same_id = !ids.insert(idOf(read)).second;
        withPart(database, part, attachable.at(part), [&] {
          refuseTwice(database, part, source.name, same_id);
          refuseOtherPrivacy(database, part, source.name);
          copySource(database, source.name);
          noteForgotten(database, read, source.name);
        });
        if (database.integer("SELECT count(*) FROM source WHERE privacy <> ''") > 0) restrictToGroup(into);
      }
    }
    settleSources(database);
  } catch (...) {
    removeDatabase(into);
    throw;
  }
}

}  // namespace mpm::monitor
