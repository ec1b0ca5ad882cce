// SPDX-License-Identifier: Apache-2.0
// From schema 4 to 6: samples that may be averaged together become series, and sums are kept by series and by day and
// night, where they were kept by session.
#include <map>
#include <string>
#include <utility>

#include "monitor/store/bucket.h"
#include "monitor/store/kept.h"
#include "monitor/store/schema.h"
#include "monitor/store/sum_up.h"

namespace mpm::monitor {
namespace {

constexpr std::size_t kAtOnce = 20000;  // sums in memory

// What sessions share that are of one series.
constexpr const char* kSame = "source, model_digest, schedule, tokens, classes";

void makeSeries(Database& database) {
  database.execute(
      std::string("INSERT INTO series(source, number, round, model, model_name, model_digest,"
                  " cross_validation, schedule, precision, tokens, classes)"
                  " SELECT old.source, row_number() OVER (PARTITION BY old.source ORDER BY first), 1, model,"
                  " model_name, model_digest, cross_validation, schedule, 'fp32', tokens, classes FROM"
                  " (SELECT min(id) AS first, max(id) AS latest FROM old_session GROUP BY ") +
      kSame + ") JOIN old_session AS old ON old.id = latest ORDER BY first");
  database.execute(
      std::string("INSERT INTO session(id, source, series, started_ms, ended_ms, every_s, latitude, longitude)"
                  " SELECT old.id, old.source, series.id, started_ms, ended_ms, every_s, latitude, longitude"
                  " FROM old_session AS old JOIN series USING(") +
      kSame + ") ORDER BY old.id");
}

// The series of the sample that brought the change; where that is forgotten, of the session of that time.
void moveStateChanges(Database& database) {
  database.execute(
      "INSERT OR REPLACE INTO state_change(series, name, time_ms, state)"
      " SELECT coalesce((SELECT series FROM sample JOIN session ON session.id = sample.session WHERE sample.source ="
      " old.source AND sample.time_ms = old.time_ms ORDER BY sample.id DESC LIMIT 1), (SELECT series FROM session WHERE"
      " source = old.source AND started_ms <= old.time_ms ORDER BY id DESC LIMIT 1), (SELECT min(id) FROM series WHERE"
      " source = old.source)) AS of, name, time_ms, state FROM old_state_change AS old WHERE of IS NOT NULL");
}

// Of samples that are forgotten only the sums of both sides are known: they count as of the larger one.
void moveSums(Database& database) {
  BucketUpdate sums;
  Statement rows = database.prepare(
      "SELECT samples, old.series, day, night, session.series, width_ms, start_ms, region FROM old_bucket AS old"
      " JOIN session ON session.id = old.session");
  while (rows.step()) {
    const std::int64_t day = rows.integer(2), night = rows.integer(3);
    const Side side = day + night == 0 ? Side::kUnknown : night > day ? Side::kNight : Side::kDay;
    sums.add({rows.integer(4), rows.integer(5), rows.integer(6), rows.integer(7), side}, Bucket(rows, 0), {});
    if (sums.size() >= kAtOnce) sums.write(database);
  }
  Statement hours = database.prepare(
      "SELECT session.series, start_ms, night, occurrences FROM old_hour_of_tokens AS old JOIN session ON session.id ="
      " old.session");
  while (hours.step()) {
    TokenCounts tokens;
    addTokenCounts(hours, 3, tokens);
    sums.add({hours.integer(0), kHourMs, hours.integer(1), 0, sideIn(hours, 2)}, {}, tokens);
    if (sums.size() >= kAtOnce) sums.write(database);
  }
  sums.write(database);
}

}  // namespace

void convertFromRelease(Database& database) {
  database.execute("DROP VIEW state_values; DROP VIEW region_values");
  database.execute(
      "ALTER TABLE source ADD COLUMN privacy TEXT; ALTER TABLE source ADD COLUMN alarms TEXT;"
      "ALTER TABLE source ADD COLUMN unsettled INTEGER; ALTER TABLE sample ADD COLUMN pixel_digest INTEGER");
  for (const char* table : {"session", "bucket", "hour_of_tokens", "state_change"}) {
    database.execute(std::string("CREATE TEMP TABLE old_") + table + " AS SELECT * FROM main." + table +
                     "; DROP TABLE main." + table);
  }
  database.execute(kSeriesTables);
  makeSeries(database);
  moveStateChanges(database);
  moveSums(database);
  std::vector<std::int64_t> sources;
  Statement rows = database.prepare("SELECT id FROM source");
  while (rows.step()) sources.push_back(rows.integer(0));
  addKeptFrom(database);
  for (const std::int64_t source : sources) sumUp(database, source);
  for (const char* table : {"session", "bucket", "hour_of_tokens", "state_change"})
    database.execute(std::string("DROP TABLE temp.old_") + table);
}

}  // namespace mpm::monitor
