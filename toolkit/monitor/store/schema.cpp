// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/schema.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "monitor/store/database_files.h"
#include "monitor/store/kept.h"
#include "monitor/store/store_reader.h"

namespace mpm::monitor {

const char* const kSeriesTables =
    // One row. `id`: which database this is, also as a copy and under another name: whose pictures are whose.
    // `announced`: what Home Assistant was told under which topic, as JSON, so that what is gone can be taken back.
    // `privacy`: of sources that have none of their own, where that of a damaged database was lost.
    "CREATE TABLE database(id TEXT NOT NULL, announced TEXT, privacy TEXT);"
    // Only samples of one series are averaged together: they share the source, the model, its classes, reduction,
    // precision and settings. `number` counts those of a source from 1. `round`: pictures that were measured again with
    // the same model are another series, whose round is one higher. `settings`: Measuring::settings; NULL: not known,
    // so that it goes on with any. `heads`: SessionInfo::heads of its sessions, as JSON; NULL: none is known.
    // `events_before`: the last event that was stored before the watch in which it began; NULL: not known.
    "CREATE TABLE series(id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES source, number INTEGER NOT NULL,"
    "  round INTEGER NOT NULL, model TEXT NOT NULL, model_name TEXT NOT NULL, model_digest TEXT NOT NULL,"
    "  cross_validation TEXT NOT NULL, schedule TEXT NOT NULL, precision TEXT NOT NULL, settings TEXT,"
    "  tokens INTEGER NOT NULL, classes TEXT NOT NULL, heads TEXT, events_before INTEGER, UNIQUE(source, number));"
    // `night_rule`: toText(), by which its samples were judged; NULL: not known, '': by none. `times`:
    // SessionInfo::times; NULL: not known, or no archive.
    "CREATE TABLE session(id INTEGER PRIMARY KEY AUTOINCREMENT, source INTEGER NOT NULL REFERENCES source,"
    "  series INTEGER NOT NULL REFERENCES series, started_ms INTEGER NOT NULL, ended_ms INTEGER,"
    "  every_s REAL NOT NULL, latitude REAL, longitude REAL, time_zone TEXT, times TEXT, night_rule TEXT);"
    "CREATE INDEX session_by_source ON session(source, id);"
    // When another state counts, kept for good; "": none does, where a watch begins and where no state is read any
    // more.
    "CREATE TABLE state_change(series INTEGER NOT NULL REFERENCES series, name TEXT NOT NULL,"
    "  time_ms INTEGER NOT NULL, state TEXT NOT NULL, PRIMARY KEY(series, name, time_ms)) WITHOUT ROWID;"
    // Sums per minute, hour and day, so that a year opens at once. `region` 0: of the whole picture. `night`: as the
    // samples have it, 0 or 1, or 2 where they do not know. `tokens`: how often each number of tokens came, of hours of
    // the whole picture.
    "CREATE TABLE bucket(series INTEGER NOT NULL REFERENCES series, width_ms INTEGER NOT NULL,"
    "  start_ms INTEGER NOT NULL, region INTEGER NOT NULL, night INTEGER NOT NULL, samples INTEGER NOT NULL,"
    "  sums BLOB NOT NULL, tokens BLOB, PRIMARY KEY(series, width_ms, start_ms, region, night)) WITHOUT ROWID;"
    "CREATE VIEW state_values AS SELECT sample.id AS sample, datetime(time_ms / 1000, 'unixepoch') AS time_utc,"
    "  time_ms, source.name AS source, series.number AS series, picture, night, state_sample.name AS name, state,"
    "  probability, sure, nullif(counted, '') AS counted FROM state_sample JOIN sample ON sample.id ="
    "  state_sample.sample JOIN source ON source.id = sample.source JOIN session ON session.id = sample.session"
    "  JOIN series ON series.id = session.series;"
    // For any SQLite client: a row per sample and region; the whole picture has the name ''.
    "CREATE VIEW region_values AS SELECT datetime(time_ms / 1000, 'unixepoch') AS time_utc, time_ms,"
    "  source.name AS source, series.number AS series, coalesce(region.name, '') AS region_name, picture, night,"
    "  series.classes AS classes, region_sample.* FROM region_sample JOIN sample ON sample.id = region_sample.sample"
    "  LEFT JOIN region ON region.id = region_sample.region JOIN source ON source.id = sample.source"
    "  JOIN session ON session.id = sample.session JOIN series ON series.id = session.series;";

namespace {

constexpr std::int64_t kApplicationId = 0x4d504d31;  // "MPM1", in the header of the file
constexpr int kVersion = 6, kReleased = 4;           // the latter is that of 0.1.0

// Lists are JSON, so that any SQLite client can read them.
constexpr const char* kTables =
    // `privacy`: what must not be seen of it, as JSON; '': nothing; NULL: database.privacy. `alarms`: those whose
    // number is outside of its limit (AlarmState), as JSON, where a watch goes on after a restart. `unsettled`: of
    // an archive, bits of Unsettled before settle(). `kept_from`: from when on nothing was forgotten, as JSON, of
    // samples, of minutes and of hours; null there, or NULL: nothing ever was.
    "CREATE TABLE source(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, archive INTEGER NOT NULL DEFAULT 0,"
    "  privacy TEXT, alarms TEXT, unsettled INTEGER, kept_from TEXT);"
    // `pixel_digest`: of the pixels of the frame; NULL: not known.
    "CREATE TABLE sample(id INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL REFERENCES session,"
    "  source INTEGER NOT NULL REFERENCES source, time_ms INTEGER NOT NULL, picture TEXT NOT NULL,"
    "  picture_digest INTEGER NOT NULL, night INTEGER,"
    "  token_counts TEXT NOT NULL, moved_right REAL, moved_down REAL, turned REAL, zoomed REAL,"
    "  pixel_digest INTEGER);"
    "CREATE INDEX sample_by_time ON sample(source, time_ms);"
    // `shape` is JSON of one region, as in a file of regions. `current`: samples to come are measured in it.
    "CREATE TABLE region(id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES source, name TEXT NOT NULL,"
    "  ignored INTEGER NOT NULL, shape TEXT NOT NULL, from_ms INTEGER, to_ms INTEGER, current INTEGER NOT NULL);"
    // `region` 0: the whole picture. Each quantity has a column here: addMissing().
    "CREATE TABLE region_sample(sample INTEGER NOT NULL REFERENCES sample, region INTEGER NOT NULL,"
    "  areas TEXT NOT NULL, PRIMARY KEY(sample, region)) WITHOUT ROWID;"
    // `look`: StateLook; NULL: as 1.
    "CREATE TABLE state_sample(sample INTEGER NOT NULL REFERENCES sample, name TEXT NOT NULL, state TEXT NOT NULL,"
    "  probability REAL NOT NULL, sure INTEGER NOT NULL, counted TEXT NOT NULL, look INTEGER,"
    "  PRIMARY KEY(sample, name)) WITHOUT ROWID;"
    "CREATE TABLE event(id INTEGER PRIMARY KEY AUTOINCREMENT, source INTEGER, time_ms INTEGER NOT NULL,"
    "  kind INTEGER NOT NULL, severity INTEGER NOT NULL, message TEXT NOT NULL);"
    "CREATE INDEX event_by_time ON event(time_ms);"
    "CREATE INDEX event_by_source ON event(source, time_ms);"
    "CREATE TABLE view_reference(source INTEGER PRIMARY KEY REFERENCES source, width INTEGER NOT NULL,"
    "  height INTEGER NOT NULL, pictures INTEGER NOT NULL, learned_ms INTEGER NOT NULL, moved_right REAL NOT NULL,"
    "  moved_down REAL NOT NULL, turned REAL NOT NULL, zoomed REAL NOT NULL, rows INTEGER NOT NULL,"
    "  edges BLOB NOT NULL);"
    // What is to be told to others, until they have confirmed it. `latest`: only the last message of its topic counts.
    // `id` is unique in the world.
    "CREATE TABLE outbox(number INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  id TEXT NOT NULL DEFAULT (lower(hex(randomblob(8)))), channel TEXT NOT NULL, topic TEXT NOT NULL,"
    "  latest INTEGER NOT NULL, payload TEXT NOT NULL);"
    "CREATE INDEX outbox_by_channel ON outbox(channel, number);"
    "CREATE UNIQUE INDEX outbox_latest ON outbox(channel, topic) WHERE latest;";

// The version of the schema; 0: the file is empty.
int schemaOf(const Database& database, const std::string& path) {
  if (database.integer("SELECT count(*) FROM sqlite_master") == 0) return 0;
  if (database.integer("PRAGMA application_id") != kApplicationId)
    throw Error("'" + path + "' is a database of another program: name another file");
  const std::int64_t version = database.integer("PRAGMA user_version");
  if (version != kVersion && version != kReleased) {
    throw Error("'" + path + "' has schema " + std::to_string(version) + ", this program knows schemas " +
                std::to_string(kReleased) + " and " + std::to_string(kVersion) + ": name another file");
  }
  return static_cast<int>(version);
}

void setVersion(Database& database) { database.execute("PRAGMA user_version = " + std::to_string(kVersion)); }

bool saysWhatIsKept(const Database& database) {
  return std::ranges::count(columnsOf(database, "source"), "kept_from") > 0;
}

// Whether there is all of addMissing() that a reader needs.
bool isComplete(const Database& database) {
  return saysWhatIsKept(database) &&
         database.integer("SELECT count(*) FROM sqlite_master WHERE name = 'samples_of_days'") > 0;
}

// A file may be older than some columns and an index. A new quantity is unknown in the samples that are there.
void addMissing(Database& database) {
  if (std::ranges::count(columnsOf(database, "database"), "privacy") == 0)
    database.execute("ALTER TABLE database ADD COLUMN privacy TEXT");
  if (!saysWhatIsKept(database)) {
    Transaction transaction(database);
    addKeptFrom(database);
    transaction.commit();
  }
  if (std::ranges::count(columnsOf(database, "state_sample"), "look") == 0)
    database.execute("ALTER TABLE state_sample ADD COLUMN look INTEGER");
  if (std::ranges::count(columnsOf(database, "series"), "events_before") == 0)
    database.execute("ALTER TABLE series ADD COLUMN events_before INTEGER");
  // The samples of a year are counted from this index alone. The rows of the table are long, because they hold the
  // sums.
  database.execute("CREATE INDEX IF NOT EXISTS samples_of_days ON bucket(series, start_ms, samples) WHERE width_ms = " +
                   std::to_string(kDayMs) + " AND region = 0");
  const auto there = columnsOf(database, "region_sample");
  for (const Quantity& one : quantities()) {
    if (std::ranges::count(there, one.key) == 0)
      database.execute(std::string("ALTER TABLE region_sample ADD COLUMN ") + one.key + " REAL");
  }
}

void convert(Database& database, const std::string& path) {
  Transaction transaction(database);
  if (schemaOf(database, path) == kVersion) return;  // another program was faster
  convertFromRelease(database);
  setVersion(database);
  transaction.commit();
}

void makeTables(Database& database, const std::string& path) {
  Transaction transaction(database);
  if (schemaOf(database, path) != 0) return;  // another program was faster
  database.execute(kTables);
  database.execute(kSeriesTables);
  database.execute("PRAGMA application_id = " + std::to_string(kApplicationId));
  setVersion(database);
  transaction.commit();
}

bool isFull(const std::string& path) {
  constexpr std::uintmax_t kLeast = 100'000;  // shared memory and a transaction
  std::error_code error;
  const auto folder = std::filesystem::absolute(path, error).parent_path();
  return !error && std::filesystem::space(folder, error).available < kLeast && !error;
}

[[noreturn]] void failToOpen(const std::string& path, const SqliteError& error) {
  if (error.code() == SQLITE_NOTADB) {
    throw SqliteError(error.code(),
                      "'" + path + "' is " +
                          (isOurs(path) ? "damaged: its first page is lost" : "not a database: name another file"));
  }
  if (error.isDamage()) throw error;  // which names the file
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

// A file that is read as it is, without its log.
std::string immutableUri(const std::string& path) {
  std::string uri = "file:";
  for (unsigned char c : std::filesystem::absolute(path).string()) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    if (c == '?' || c == '#' || c == '%')
      uri.append({'%', kHex[c >> 4], kHex[c & 15]});
    else
      uri.push_back(static_cast<char>(c));
  }
  return uri + "?immutable=1";
}

// The first bytes of a database: https://www.sqlite.org/fileformat.html. SQLite reads them, because a descriptor of
// ours that is closed lets go of all locks that this process has on the file: the next program that closes the database
// would delete the log of a writer here.
class Header {
 public:
  explicit Header(const std::string& database) {
    sqlite3* opened = nullptr;
    sqlite3_file* file = nullptr;
    if (sqlite3_open_v2(database.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK &&
        sqlite3_file_control(opened, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK && file->pMethods)
      file->pMethods->xRead(file, bytes_.data(), static_cast<int>(bytes_.size()), 0);
    sqlite3_close(opened);
  }
  std::int64_t number(std::size_t at, std::size_t size) const {
    std::int64_t value = 0;
    for (std::size_t i = at; i < at + size; ++i) value = value << 8 | bytes_[i];
    return value;
  }

 private:
  std::array<unsigned char, 100> bytes_{};
};

// Whether the file is shorter than its header says: a copy that ended early.
bool isCutOff(const std::string& database) {
  std::error_code error;
  const auto hasLog = [&] {  // it may hold the rest; its owner may move that into the file at this moment
    return std::ranges::any_of(kLogEndings, [&](const char* ending) {
      return std::filesystem::file_size(database + ending, error) > 0 && !error;
    });
  };
  if (hasLog()) return false;
  const Header header(database);
  const std::int64_t page = header.number(16, 2), pages = header.number(28, 4);
  const bool counted = header.number(24, 4) == header.number(92, 4);
  const std::uintmax_t size = std::filesystem::file_size(database, error);
  return counted && !error && size < static_cast<std::uintmax_t>(pages * (page == 1 ? 65536 : page)) && !hasLog();
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
}  // namespace

Database openForWriting(const std::string& path, bool create) {
  requireWhole(path);
  std::optional<Database> opened;
  try {
    Database& database = opened.emplace(path, create ? Database::Mode::kCreate : Database::Mode::kReadWrite);
    if (sqlite3_db_readonly(database.handle(), "main") == 1) {  // SQLite reads then what it was to write
      throw SqliteError(SQLITE_READONLY,
                        "database '" + path + "' may not be written by this user, or lies on a disk that is read-only");
    }
    const int schema = schemaOf(database, path);
    const bool fresh = schema == 0;
    if (fresh) database.execute("PRAGMA auto_vacuum = INCREMENTAL");
    if (Statement mode = database.prepare("PRAGMA journal_mode = WAL"); !mode.step() || mode.text(0) != "wal") {
      throw Error("'" + path +
                  "' lies where SQLite cannot share memory (a network drive?): name a file on a local disk");
    }
    // In WAL mode NORMAL cannot damage the file; a kill loses nothing that was committed, and what a power cut may lose
    // ends at the last checkpoint, one a minute. FULL would cost an SD card an fsync every second.
    database.execute("PRAGMA synchronous = NORMAL");
    database.execute("PRAGMA journal_size_limit = 4000000");
    if (fresh) makeTables(database, path);
    if (!fresh && schema < kVersion) convert(database, path);
    addMissing(database);
    database.execute(
        "INSERT INTO database(id) SELECT lower(hex(randomblob(8))) WHERE NOT EXISTS (SELECT 1 FROM database)");
    return std::move(database);
  } catch (const SqliteError& error) {
    if (opened && error.isDamage()) opened->keepLog();
    failToOpen(path, error);
  }
}

ConvertedFrom stateOf(const std::string& path) {
  std::error_code none;
  ConvertedFrom state;
  state.file = std::filesystem::last_write_time(path, none);
  state.log = std::filesystem::last_write_time(path + "-wal", none);
  return state;
}

Database openForReading(const std::string& path, std::optional<ConvertedFrom>* converted) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) throw Error("there is no database '" + path + "'");
  requireWhole(path);
  const auto openAs = [&](const std::string& name) {
    Database database(name, Database::Mode::kReadOnly);
    const int schema = schemaOf(database, path);
    if (schema == 0) throw EmptyDatabase("'" + path + "' is empty");
    if (schema == kVersion && isComplete(database)) return database;
    if (converted) *converted = stateOf(path);
    Database copy = database.copyInMemory();
    convert(copy, path);
    addMissing(copy);
    return copy;
  };
  try {
    return openAs(path);
  } catch (const SqliteError& error) {
    const int code = error.code() & 0xff;
    if ((code != SQLITE_READONLY && code != SQLITE_CANTOPEN) || std::filesystem::exists(path + "-wal", ignored))
      failToOpen(path, error);
  }
  // WAL needs a file of shared memory beside the database. On a medium that cannot be written there is no writer
  // either, so the file may be read as it is.
  try {
    return openAs(immutableUri(path));
  } catch (const SqliteError& error) {
    failToOpen(path, error);
  }
}

bool isOurs(const std::string& database) { return Header(database).number(68, 4) == kApplicationId; }

std::string idOf(const Database& database) {
  Statement row = database.prepare("SELECT id FROM database");
  return row.step() ? std::string(row.text(0)) : "";
}

std::string privacyOf(const Database& database, const std::string& source, const std::string& attached) {
  const bool older = std::ranges::count(columnsOf(database, "database", attached), "privacy") == 0;
  const std::string of_others = older ? "" : ", (SELECT privacy FROM " + attached + ".database)";
  return "coalesce(" + source + ".privacy" + of_others + ", '')";
}

bool takeOver(Database& database, const std::string& damaged, const std::string& unknown_privacy) {
  // With its log, which may have what came last, or else as it is.
  const auto read = [&](const auto& what) {
    for (const std::string& path : {damaged, immutableUri(damaged)}) {
      try {
        return what(Database(path, Database::Mode::kReadOnly)), true;
      } catch (const SqliteError&) {
      }
    }
    return false;
  };
  std::string id;
  if (read([&](const Database& before) { id = idOf(before); }) && !id.empty())
    database.run("UPDATE database SET id = ?", id);
  std::vector<std::tuple<std::string, bool, std::string>> sources;
  const bool known = read([&](const Database& before) {
    sources.clear();
    Statement rows = before.prepare("SELECT name, archive, " + privacyOf(before, "source", "main") + " FROM source");
    while (rows.step()) {
      auto& [name, archive, privacy] = sources.emplace_back();
      rows.read(name, archive, privacy);
    }
  });
  for (const auto& [name, archive, privacy] : sources)
    database.run("INSERT INTO source(name, archive, privacy) VALUES (?, ?, ?)", name, archive, privacy);
  if (!known) database.run("UPDATE database SET privacy = ?", unknown_privacy);
  return known;
}

std::string setAside(const std::string& database, UnixMs now) {
  const std::filesystem::path file = std::filesystem::canonical(database);  // not the link to it
  const std::string first = file.string() + ".damaged-" + fileTime(now);
  std::string name = first;
  const auto anyIsThere = [&] {
    return std::ranges::any_of(databaseFiles(name),
                               [](const std::string& one) { return std::filesystem::exists(one); });
  };
  for (int number = 2; anyIsThere(); ++number) name = first + "." + std::to_string(number);
  for (const std::string& one : databaseFiles(file.string())) {
    const std::string ending = one.substr(file.string().size());
    if (ending == kLockEnding) continue;  // the writer that sets the database aside holds it
    if (!ending.empty() && !std::filesystem::exists(one)) continue;
    std::filesystem::rename(one, name + ending);
  }
  return name;
}

void removeDatabase(const std::string& path) {
  for (const std::string& file : databaseFiles(path)) {
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
  }
}

std::vector<std::string> columnsOf(const Database& database, const std::string& table, const std::string& attached) {
  std::vector<std::string> columns;
  Statement rows = database.prepare("SELECT name FROM pragma_table_info(?, ?)");
  rows.bind(table, attached);
  while (rows.step()) columns.emplace_back(rows.text(0));
  return columns;
}

std::string nullUnless(const std::vector<std::string>& there, const std::string& column) {
  return std::ranges::count(there, column) == 0 ? "NULL AS " + column : column;
}

std::string sameHeads(const std::string& a, const std::string& b) {
  return "NOT EXISTS(SELECT 1 FROM json_each(coalesce(" + a + ", '{}')) one JOIN json_each(coalesce(" + b +
         ", '{}')) other USING(key) WHERE one.value <> other.value)";
}

std::optional<std::int64_t> findSeries(const Database& database, std::int64_t source, const Measuring& measuring,
                                       const std::string& heads) {
  Statement row = database.prepare(
      "SELECT id FROM series WHERE source = ? AND model_digest = ? AND schedule = ? AND precision = ? AND tokens = ?"
      " AND classes = ? AND coalesce(settings, ?7) = ?7 AND " +
      sameHeads("series.heads", "?8") +
      " ORDER BY settings IS NULL, (SELECT max(id) FROM session WHERE session.series = series.id) DESC LIMIT 1");
  row.bind(source, measuring.model_digest, measuring.reduce, measuring.precision, measuring.tokens,
           toLine(measuring.classes), measuring.settings, heads);
  return row.step() ? std::optional(row.integer(0)) : std::nullopt;
}

}  // namespace mpm::monitor
