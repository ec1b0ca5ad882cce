// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <map>

#include "base/visible_text.h"
#include "monitor/store/bucket.h"
#include "monitor/store/schema.h"
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

// Runs `work` in one transaction, in which the database `part` is attached under this name.
template <typename Work>
void withPart(Database& database, const std::string& part, Work work) {
  (void)openForReading(part);  // says what is wrong with it
  database.run("ATTACH ? AS part", part);
  try {
    Transaction transaction(database);
    work();
    transaction.commit();
  } catch (...) {
    database.execute("DETACH part");
    throw;
  }
  database.execute("DETACH part");
}

// The column of a part, which an older program may have written.
std::string privacyOf(const Database& database) { return nullUnless(columnsOf(database, "source", "part"), "privacy"); }

// What is in the whole was learned with other parts of the picture on show, or its pictures hide less.
void refuseOtherPrivacy(const Database& database, const std::string& part) {
  Statement other = database.prepare("SELECT m.name FROM (SELECT name, " + privacyOf(database) +
                                     " FROM part.source) p JOIN main.source m USING(name)"
                                     " WHERE coalesce(p.privacy, '') <> coalesce(m.privacy, '') LIMIT 1");
  if (other.step())
    throw Error("'" + part + "' hides other parts of '" + visibleText(other.text(0)) +
                "' than another database does: run 'mpm monitor --recompute all' with one --hide and --blur");
}

void refuseTwice(const Database& database, const std::string& part) {
  Statement twice = database.prepare(
      "SELECT p.picture, p.time_ms FROM part.sample p JOIN part.source s ON s.id = p.source JOIN main.source m ON "
      "m.name = s.name"
      " JOIN main.sample q ON q.source = m.id AND q.time_ms = p.time_ms AND q.picture = p.picture"
      " AND q.picture_digest = p.picture_digest LIMIT 1");
  if (twice.step())
    throw Error("'" + part + "' holds what another part holds: " +
                (twice.text(0).empty() ? "the sample of " + isoTime(twice.integer(1), true)
                                       : "picture '" + visibleText(twice.text(0)) + "'"));
}

void copyAll(Database& database) {
  database.execute("INSERT INTO main.source(name, archive, privacy) SELECT name, archive, " + privacyOf(database) +
                   " FROM part.source WHERE true ON CONFLICT DO NOTHING");
  database.execute(
      "CREATE TEMP TABLE place AS SELECT p.id AS part, m.id AS whole FROM part.source p"
      " JOIN main.source m USING(name)");
  const std::string source = "(SELECT whole FROM place WHERE part = source)";
  const auto after = [&](const std::string& table, const std::string& column) {
    return column + " + " + std::to_string(database.integer("SELECT coalesce(max(id), 0) FROM main." + table));
  };
  const std::string session = after("session", "session"), sample = after("sample", "sample");
  copy(database, "session", {{"id", after("session", "id")}, {"source", source}});
  copy(database, "sample", {{"id", after("sample", "id")}, {"source", source}, {"session", session}});
  // A region that another part has, too, is the same one.
  const std::string same = "m.shape = region.shape AND m.source = (SELECT whole FROM place WHERE part = region.source)";
  const std::string known = "(SELECT id FROM main.region m WHERE " + same + ")";
  copy(database, "region", {{"id", ""}, {"source", source}}, " WHERE NOT EXISTS " + known);
  database.execute("CREATE TEMP TABLE area AS SELECT id AS part, " + known + " AS whole FROM part.region");
  const std::string area = "(SELECT whole FROM area WHERE part = region)";
  copy(database, "region_sample", {{"sample", sample}, {"region", "coalesce(" + area + ", 0)"}});
  copy(database, "state_sample", {{"sample", sample}});
  // Two parts may begin a state in the same moment: the state of the later part counts, where it is known.
  copy(database, "state_change", {{"source", source}},
       " WHERE true ON CONFLICT(source, name, time_ms)"
       " DO UPDATE SET state = excluded.state WHERE excluded.state <> ''");
  copy(database, "event", {{"id", ""}, {"source", source}});
  copy(database, "view_reference", {{"source", source}},
       " WHERE " + source + " NOT IN (SELECT source FROM main.view_reference)");
  copy(database, "bucket", {{"source", source}, {"session", session}, {"region", "coalesce(" + area + ", 0)"}});
  copy(database, "hour_of_tokens", {{"session", session}});
  database.execute("DROP TABLE place; DROP TABLE area");
}

// The samples of the pictures that the part has, too, and all that was summed up of their sessions: their ids are in
// the table `touched`.
void removeReplaced(Database& database) {
  const auto remove = [&](const std::string& what) { database.execute("DELETE FROM main." + what); };
  database.execute(
      "CREATE TEMP TABLE fresh AS SELECT m.id AS source, time_ms, picture, picture_digest FROM part.sample p"
      " JOIN part.source s ON s.id = p.source JOIN main.source m ON m.name = s.name WHERE m.archive;"
      "CREATE INDEX temp.fresh_by_name ON fresh(picture, source);"
      "CREATE TEMP TABLE old AS SELECT id, session, source, time_ms FROM main.sample q WHERE EXISTS (SELECT 1 FROM"
      " fresh f WHERE f.picture = q.picture AND f.source = q.source AND (f.time_ms = q.time_ms OR"
      " f.picture_digest = q.picture_digest AND q.picture_digest <> 0));"  // its time may be read in another way now
      "CREATE TEMP TABLE span AS SELECT source, min(time_ms) AS first, max(time_ms) AS last FROM"
      " (SELECT source, time_ms FROM fresh UNION ALL SELECT source, time_ms FROM old) GROUP BY source;"
      "CREATE TEMP TABLE touched AS SELECT DISTINCT session AS id FROM old; DROP TABLE fresh");
  for (const char* table : {"region_sample", "state_sample"})
    remove(std::string(table) + " WHERE sample IN (SELECT id FROM old)");
  remove("sample WHERE id IN (SELECT id FROM old)");
  for (const char* table : {"bucket", "hour_of_tokens"})
    remove(std::string(table) + " WHERE session IN (SELECT id FROM touched)");
  remove("session WHERE id IN (SELECT id FROM touched) AND id NOT IN (SELECT session FROM main.sample)");
  for (const char* table : {"event", "state_change"})  // the time of a picture is on them
    remove(std::string(table) + " WHERE EXISTS (SELECT 1 FROM span WHERE span.source = " + table + ".source AND " +
           table + ".time_ms BETWEEN first AND last)");
  database.execute("PRAGMA secure_delete = ON");  // other parts of the picture may have been on show
  remove("view_reference WHERE source IN (SELECT source FROM span)");
  database.execute("PRAGMA secure_delete = OFF");
}

// Sums up the samples that touched sessions still have: all of them, because nothing of an archive is forgotten.
void sumUpTouched(Database& database) {
  AggregateUpdate sums;
  Statement sessions = database.prepare("SELECT id, source FROM session WHERE id IN (SELECT id FROM touched)");
  while (sessions.step()) {
    SampleRows rows(database, SampleRows::With::kRegions, "session = ?");
    rows.bind(sessions.integer(0));
    for (Sample sample; rows.next(sample);) sums.add(sessions.integer(1), sample.session, sample);
  }
  sums.write(database);
}

}  // namespace

void replaceSamples(Database& database, const std::string& fresh) {
  withPart(database, fresh, [&] {
    removeReplaced(database);
    sumUpTouched(database);  // before a new session gets the number of one that went
    copyAll(database);
    // Regions that neither are measured nor were.
    database.execute(
        "UPDATE main.region SET current = EXISTS (SELECT 1 FROM part.region p JOIN part.source s ON s.id = p.source"
        " JOIN main.source m ON m.name = s.name WHERE m.id = region.source AND p.shape = region.shape AND p.current)"
        " WHERE source IN (SELECT source FROM span);"
        "DELETE FROM main.region WHERE source IN (SELECT source FROM span) AND NOT current AND id NOT IN"
        " (SELECT region FROM main.region_sample);"
        "DROP TABLE span; DROP TABLE old; DROP TABLE touched");
  });
}

void mergeDatabases(const std::vector<std::string>& parts, const std::string& into) {
  if (std::filesystem::exists(into)) throw Error("'" + into + "' exists already: name a new file");
  try {
    Database database = openForWriting(into, true);
    for (const std::string& part : parts) try {
        withPart(database, part, [&] {
          refuseTwice(database, part);
          refuseOtherPrivacy(database, part);
          copyAll(database);
        });
        if (database.integer("SELECT count(*) FROM source WHERE privacy <> ''") > 0) restrictToGroup(into);
      } catch (const SqliteError& error) {  // which names the whole
        if (error.isDamage()) throw Error("'" + part + "' is damaged, or the disk of '" + into + "' is");
        throw;
      }
    database.execute(  // pictures that follow each other may be of two parts, each of which begins with its first state
        "DELETE FROM state_change WHERE source IN (SELECT id FROM source WHERE archive) AND (source, name, time_ms) NOT"
        " IN (SELECT source, name, time_ms FROM (SELECT *, lag(state, 1, '') OVER (PARTITION BY source, name ORDER BY"
        " time_ms) AS before FROM state_change WHERE state <> '') WHERE state <> before)");
  } catch (...) {
    removeDatabase(into);
    throw;
  }
}

}  // namespace mpm::monitor
