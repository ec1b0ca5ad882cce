// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/merge.h"

#include <filesystem>
#include <map>

#include "base/visible_text.h"
#include "monitor/store/schema.h"
#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

std::vector<std::string> columnsOf(const Database& database, const std::string& table) {
  std::vector<std::string> columns;
  Statement rows = database.prepare("SELECT name FROM pragma_table_info('" + table + "')");
  while (rows.step()) columns.emplace_back(rows.text(0));
  return columns;
}

// Copies a table of the attached part. `number`: what replaces a column that is a number of another table, or the
// row's own; an empty text leaves the column out.
void copy(Database& database, const std::string& table, const std::map<std::string, std::string>& number,
          const std::string& where = "") {
  std::string columns, values;
  for (const std::string& column : columnsOf(database, table)) {
    const auto other = number.find(column);
    if (other != number.end() && other->second.empty()) continue;
    columns += (columns.empty() ? "" : ", ") + column;
    values += (values.empty() ? "" : ", ") + (other == number.end() ? column : other->second);
  }
  database.execute("INSERT INTO main." + table + "(" + columns + ") SELECT " + values + " FROM part." + table + where);
}

void add(Database& database, const std::string& part) {
  (void)openForReading(part);  // says what is wrong with it
  database.prepare("ATTACH ? AS part").run(part);
  Transaction transaction(database);
  Statement twice = database.prepare(
      "SELECT p.picture FROM part.sample p JOIN part.source s ON s.id = p.source JOIN main.source m ON m.name = s.name"
      " JOIN main.sample q ON q.source = m.id AND q.time_ms = p.time_ms AND q.picture = p.picture LIMIT 1");
  if (twice.step())
    throw Error("'" + part + "' holds what another part holds: picture '" + visibleText(twice.text(0)) + "'");
  twice = {};
  database.execute(
      "INSERT INTO main.source(name, archive) SELECT name, archive FROM part.source WHERE true ON CONFLICT DO NOTHING;"
      "CREATE TEMP TABLE place AS SELECT p.id AS part, m.id AS whole FROM part.source p JOIN main.source m "
      "USING(name)");
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
  copy(database, "region_sample", {{"sample", sample}, {"region", area}});
  copy(database, "state_sample", {{"sample", sample}});
  copy(database, "state_change", {{"source", source}});
  copy(database, "event", {{"id", ""}, {"source", source}});
  copy(database, "view_reference", {{"source", source}},
       " WHERE " + source + " NOT IN (SELECT source FROM main.view_reference)");
  copy(database, "bucket", {{"source", source}, {"session", session}, {"region", "coalesce(" + area + ", 0)"}});
  copy(database, "hour_of_tokens", {{"session", session}});
  database.execute("DROP TABLE place; DROP TABLE area");
  transaction.commit();
  database.execute("DETACH part");
}

}  // namespace

void mergeDatabases(const std::vector<std::string>& parts, const std::string& into) {
  if (std::filesystem::exists(into)) throw Error("'" + into + "' exists already: name a new file");
  try {
    Database database = openForWriting(into, true);
    for (const std::string& part : parts) add(database, part);
  } catch (...) {
    for (const char* ending : {"", "-wal", "-shm"}) {
      std::error_code ignored;
      std::filesystem::remove(into + ending, ignored);
    }
    throw;
  }
}

}  // namespace mpm::monitor
