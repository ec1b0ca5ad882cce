// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/schema.h"

#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "monitor/store/damage.h"
#include "monitor/store/store.h"

namespace mpm::monitor {
namespace {

constexpr int kVersion = 4;

// Lists are JSON, so that any SQLite client can read them.
constexpr const char* kTables =
    "CREATE TABLE source(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, archive INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE session(id INTEGER PRIMARY KEY AUTOINCREMENT, source INTEGER NOT NULL REFERENCES source,"
    "  started_ms INTEGER NOT NULL, ended_ms INTEGER, model TEXT NOT NULL, model_name TEXT NOT NULL,"
    "  model_digest TEXT NOT NULL, cross_validation TEXT NOT NULL, schedule TEXT NOT NULL, tokens INTEGER NOT NULL,"
    "  classes TEXT NOT NULL, every_s REAL NOT NULL, latitude REAL, longitude REAL);"
    "CREATE INDEX session_by_source ON session(source, id);"
    "CREATE TABLE sample(id INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL REFERENCES session,"
    "  source INTEGER NOT NULL REFERENCES source, time_ms INTEGER NOT NULL, tokens TEXT NOT NULL,"
    "  inference_ms REAL NOT NULL, areas TEXT NOT NULL, night INTEGER, brightness REAL NOT NULL,"
    "  dropped INTEGER NOT NULL, rows REAL, agreement REAL, picture TEXT NOT NULL,"
    "  picture_digest INTEGER NOT NULL,"
    "  sharpness REAL, contrast REAL, saturated REAL, quality INTEGER,"
    "  moved_right REAL, moved_down REAL, turned REAL, zoomed REAL);"
    "CREATE INDEX sample_by_time ON sample(source, time_ms);"
    // `shape` is JSON of one region, as in a file of regions. `current`: samples to come are measured in it.
    "CREATE TABLE region(id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES source, name TEXT NOT NULL,"
    "  ignored INTEGER NOT NULL, shape TEXT NOT NULL, from_ms INTEGER, to_ms INTEGER, current INTEGER NOT NULL);"
    "CREATE TABLE region_sample(sample INTEGER NOT NULL REFERENCES sample, region INTEGER NOT NULL REFERENCES region,"
    "  pixels INTEGER NOT NULL, red REAL NOT NULL, green REAL NOT NULL, blue REAL NOT NULL,"
    "  red_deviation REAL NOT NULL, green_deviation REAL NOT NULL, blue_deviation REAL NOT NULL, tokens REAL,"
    "  areas TEXT NOT NULL, PRIMARY KEY(sample, region)) WITHOUT ROWID;"
    "CREATE TABLE state_sample(sample INTEGER NOT NULL REFERENCES sample, name TEXT NOT NULL, state TEXT NOT NULL,"
    "  probability REAL NOT NULL, sure INTEGER NOT NULL, counted TEXT NOT NULL, PRIMARY KEY(sample, name))"
    "  WITHOUT ROWID;"
    // When another state counts, kept for good; "": none does, where a watch begins.
    "CREATE TABLE state_change(source INTEGER NOT NULL REFERENCES source, name TEXT NOT NULL,"
    "  time_ms INTEGER NOT NULL, state TEXT NOT NULL, PRIMARY KEY(source, name, time_ms)) WITHOUT ROWID;"
    "CREATE VIEW state_values AS SELECT sample.id AS sample, datetime(time_ms / 1000, 'unixepoch') AS time_utc,"
    "  time_ms, source.name AS source, picture, night, state_sample.name AS name, state, probability, sure,"
    "  nullif(counted, '') AS counted FROM state_sample JOIN sample ON sample.id = state_sample.sample"
    "  JOIN source ON source.id = sample.source;"
    // For any SQLite client: a row per sample and region.
    "CREATE VIEW region_values AS SELECT sample.id AS sample, datetime(time_ms / 1000, 'unixepoch') AS time_utc,"
    "  time_ms, source.name AS source, region.name AS region, picture, night, pixels, red,"
    "  green, blue, red_deviation, green_deviation, blue_deviation,"
    "  0.299 * red + 0.587 * green + 0.114 * blue AS brightness, green / nullif(red + green + blue, 0) AS gcc,"
    "  red / nullif(red + green + blue, 0) AS rcc, 2 * green - red - blue AS exg, region_sample.tokens AS tokens,"
    "  region_sample.areas AS areas, session.classes AS classes"
    "  FROM region_sample JOIN sample ON sample.id = region_sample.sample JOIN region ON region.id ="
    "  region_sample.region JOIN source ON source.id = sample.source JOIN session ON session.id = sample.session;"
    "CREATE TABLE event(id INTEGER PRIMARY KEY AUTOINCREMENT, source INTEGER, time_ms INTEGER NOT NULL,"
    "  kind INTEGER NOT NULL, severity INTEGER NOT NULL, message TEXT NOT NULL);"
    "CREATE INDEX event_by_time ON event(time_ms);"
    "CREATE INDEX event_by_source ON event(source, time_ms);"
    "CREATE TABLE view_reference(source INTEGER PRIMARY KEY REFERENCES source, width INTEGER NOT NULL,"
    "  height INTEGER NOT NULL, pictures INTEGER NOT NULL, learned_ms INTEGER NOT NULL, moved_right REAL NOT NULL,"
    "  moved_down REAL NOT NULL, turned REAL NOT NULL, zoomed REAL NOT NULL, rows INTEGER NOT NULL,"
    "  edges BLOB NOT NULL);"
    // Sums per minute, hour and day, so that a year opens at once; histograms of token counts per hour. Sums are per
    // session, because models differ in what they call a class of one number. `region` 0: of the whole picture.
    "CREATE TABLE bucket(source INTEGER NOT NULL, width_ms INTEGER NOT NULL, start_ms INTEGER NOT NULL,"
    "  session INTEGER NOT NULL, region INTEGER NOT NULL, samples INTEGER NOT NULL, day INTEGER NOT NULL,"
    "  night INTEGER NOT NULL, series BLOB NOT NULL,"
    "  PRIMARY KEY(source, width_ms, start_ms, session, region)) WITHOUT ROWID;"
    "CREATE TABLE hour_of_tokens(session INTEGER NOT NULL, start_ms INTEGER NOT NULL, night INTEGER NOT NULL,"
    "  occurrences BLOB NOT NULL, PRIMARY KEY(session, start_ms, night)) WITHOUT ROWID;";

// False: the file is empty.
bool hasTables(const Database& database, const std::string& path) {
  if (database.integer("SELECT count(*) FROM sqlite_master") == 0) return false;
  if (database.integer("PRAGMA application_id") != kApplicationId)
    throw Error("'" + path + "' is a database of another program: name another file");
  if (const std::int64_t version = database.integer("PRAGMA user_version"); version != kVersion)
    throw Error("'" + path + "' has schema " + std::to_string(version) + ", this program knows schema " +
                std::to_string(kVersion) + ": name another file");
  return true;
}

void makeTables(Database& database, const std::string& path) {
  Transaction transaction(database);
  if (hasTables(database, path)) return;  // another program was faster
  database.execute(kTables);
  database.execute("PRAGMA application_id = " + std::to_string(kApplicationId));
  database.execute("PRAGMA user_version = " + std::to_string(kVersion));
  transaction.commit();
}

bool isFull(const std::string& path) {
  constexpr std::uintmax_t kLeast = 100'000;  // shared memory and a transaction
  std::error_code error;
  const auto folder = std::filesystem::absolute(path, error).parent_path();
  return !error && std::filesystem::space(folder, error).available < kLeast && !error;
}

[[noreturn]] void failToOpen(const std::string& path, const SqliteError& error) {
  if (error.code() == SQLITE_NOTADB)
    throw SqliteError(error.code(),
                      "'" + path + "' is " +
                          (isOurs(path) ? "damaged: its first page is lost" : "not a database: name another file"));
  if (isDamage(error.code())) throw error;  // which names the file
  std::error_code unknown;
  const auto folder = std::filesystem::absolute(path, unknown).parent_path();
  if (!unknown && !std::filesystem::exists(folder, unknown) && !unknown)
    throw SqliteError(error.code(), "database '" + path + "': there is no folder '" + folder.string() + "'");
  // SQLite calls it an I/O error when there is no space for the memory that its processes share.
  const int kind = error.code() & 0xff;
  if ((kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN || kind == SQLITE_FULL) && isFull(path))
    throw SqliteError(SQLITE_FULL, "database '" + path + "': the disk is full");
  throw error;
}

// SQLite takes a last page that is there in part for one that is whole, and waits for whoever writes into a FIFO.
void requireWhole(const std::string& path) {
  std::error_code unknown;
  const auto status = std::filesystem::status(path, unknown);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw Error("'" + path + "' is not a database: name another file");
  if (isOurs(path) && isCutOff(path))
    throw SqliteError(SQLITE_CORRUPT, "'" + path + "' is damaged: its end is missing. Copy it again");
}

template <typename Number>
void appendNumber(std::string& text, Number value) {
  char digits[64];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

// The next number in `text`, from which it and all before it are removed.
template <typename Number>
bool takeNumber(std::string_view& text, Number& value) {
  text.remove_prefix(std::min(text.find_first_of("-0123456789"), text.size()));
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

Database openForWriting(const std::string& path, bool create) {
  requireWhole(path);
  std::optional<Database> opened;
  try {
    Database& database = opened.emplace(path, create ? Database::Mode::kCreate : Database::Mode::kReadWrite);
    if (sqlite3_db_readonly(database.handle(), "main") == 1)  // SQLite reads then what it was to write
      throw SqliteError(SQLITE_READONLY,
                        "database '" + path + "' may not be written by this user, or lies on a disk that is read-only");
    const bool fresh = !hasTables(database, path);
    if (fresh) database.execute("PRAGMA auto_vacuum = INCREMENTAL");
    if (database.text("PRAGMA journal_mode = WAL") != "wal")
      throw Error("'" + path +
                  "' lies where SQLite cannot share memory (a network drive?): name a file on a local disk");
    // In WAL mode NORMAL cannot damage the file; a kill loses nothing that was committed, and what a power cut may lose
    // ends at the last checkpoint, one a minute. FULL would cost an SD card an fsync every second.
    database.execute("PRAGMA synchronous = NORMAL");
    database.execute("PRAGMA journal_size_limit = 4000000");
    if (fresh) makeTables(database, path);
    return std::move(database);
  } catch (const SqliteError& error) {
    if (opened && isDamage(error.code())) opened->keepLog();
    failToOpen(path, error);
  }
}

Database openForReading(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) throw Error("there is no database '" + path + "'");
  requireWhole(path);
  const auto check = [&](const Database& database) {
    if (!hasTables(database, path)) throw EmptyDatabase("'" + path + "' is empty");
  };
  try {
    Database database(path, Database::Mode::kReadOnly);
    check(database);
    return database;
  } catch (const SqliteError& error) {
    const int code = error.code() & 0xff;
    if ((code != SQLITE_READONLY && code != SQLITE_CANTOPEN) || std::filesystem::exists(path + "-wal", ignored))
      failToOpen(path, error);
  }
  // WAL needs a file of shared memory beside the database. On a medium that cannot be written there is no writer
  // either, so the file may be read as it is.
  try {
    std::string uri = "file:";
    for (unsigned char c : std::filesystem::absolute(path).string()) {
      constexpr std::string_view kHex = "0123456789ABCDEF";
      if (c == '?' || c == '#' || c == '%')
        uri.append({'%', kHex[c >> 4], kHex[c & 15]});
      else
        uri.push_back(static_cast<char>(c));
    }
    Database database(uri + "?immutable=1", Database::Mode::kReadOnly);
    check(database);
    return database;
  } catch (const SqliteError& error) {
    failToOpen(path, error);
  }
}

std::string tokensJson(const std::vector<double>& tokens) {
  std::string text = "[";
  for (double count : tokens) {
    if (text.size() > 1) text += ',';
    appendNumber(text, count);
  }
  return text + "]";
}

std::string areasJson(const std::vector<std::pair<int, double>>& areas) {
  std::string text = "{";
  for (const auto& [label, area] : areas) {
    if (text.size() > 1) text += ',';
    text += '"';
    appendNumber(text, label);
    text += "\":";
    appendNumber(text, static_cast<float>(area));  // the shortest text that gives the float back
  }
  return text + "}";
}

std::vector<std::pair<int, double>> readAreas(std::string_view text) {
  std::vector<std::pair<int, double>> areas;
  int label = 0;
  for (float area = 0; takeNumber(text, label) && takeNumber(text, area);)
    if (label >= 0) areas.emplace_back(label, area);
  return areas;
}

Sample readSample(const Statement& row) {
  Sample sample;
  std::string_view tokens, areas;
  row.read(sample.id, sample.time, tokens, sample.inference_ms, areas, sample.night, sample.brightness, sample.dropped,
           sample.session, sample.rows, sample.agreement, sample.picture);
  for (double count = 0; takeNumber(tokens, count);) sample.tokens.push_back(count);
  sample.areas = readAreas(areas);
  if (!row.isNull(12)) sample.quality = {row.real(12), row.real(13), row.real(14), static_cast<int>(row.integer(15))};
  if (!row.isNull(16)) sample.motion = {row.real(16), row.real(17), row.real(18), row.real(19)};
  return sample;
}

void insertRegion(Statement& insert, std::int64_t sample, const RegionSample& region) {
  insert.run(sample, region.region, region.pixels, region.red, region.green, region.blue, region.red_deviation,
             region.green_deviation, region.blue_deviation, region.tokens, areasJson(region.areas));
}

std::vector<RegionSample> readRegions(Statement& rows, std::int64_t sample) {
  std::vector<RegionSample> regions;
  rows.bind(sample);
  while (rows.step()) {
    RegionSample& one = regions.emplace_back();
    std::string_view areas;
    rows.read(one.region, one.pixels, one.red, one.green, one.blue, one.red_deviation, one.green_deviation,
              one.blue_deviation, one.tokens, areas, one.name);
    one.areas = readAreas(areas);
  }
  return regions;
}

std::vector<StateSample> readStates(Statement& rows, std::int64_t sample) {
  std::vector<StateSample> states;
  rows.bind(sample);
  while (rows.step()) {
    StateSample& one = states.emplace_back();
    rows.read(one.name, one.state, one.probability, one.sure, one.counted);
  }
  return states;
}

}  // namespace mpm::monitor
