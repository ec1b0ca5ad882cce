// SPDX-License-Identifier: Apache-2.0
// A file that a power cut or a dying SD card damaged.
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "monitor/clocks.h"
#include "monitor/privacy.h"
#include "monitor/samples.h"
#include "monitor/sql.h"
#include "monitor/store/sqlite.h"
#include "monitor/wait.h"
#include "support/throws_with.h"

namespace mpm::monitor::test {
namespace {

constexpr std::size_t kPage = 4096;

void overwrite(const std::string& path, std::size_t from, std::size_t size, char with) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(from));
  file << std::string(size, with);
}

void damageHeader(const std::string& path) { overwrite(path, 0, kPage, '\0'); }
void damageSchema(const std::string& path) { overwrite(path, 100, kPage - 100, '\xff'); }
void damageTables(const std::string& path) { overwrite(path, kPage, fs::file_size(path) - kPage, '\xff'); }

class StoreDamage : public InFolder {
 protected:
  const std::string aside_ = path_ + ".damaged-2026-06-01T12-00-00Z";
  Collected<std::string> reported_;

  std::unique_ptr<StoreWriter> writer(const std::string& path) {
    return std::make_unique<StoreWriter>(path, StoreOptions{.retry_s = 0.01, .now = [] { return kNoon; }},
                                         [&](const Event& event) { reported_.add(event.message); });
  }
  // A sample at noon.
  void makeDatabase() {
    const auto store = writer(path_);
    store->beginSession(session());
    store->append(sampleAt(kNoon));
  }
  std::vector<std::string> setAside() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (const std::string name = entry.path().string();
          name.starts_with(path_ + ".damaged-") && !name.ends_with("-wal") && !name.ends_with("-shm"))
        names.push_back(name);
    }
    return names;
  }
  // The rows of samples are damaged, which a writer notes; the next one, in its place, renames the file.
  void meetDamage(std::unique_ptr<StoreWriter>& store) {
    const auto root = std::stoul(runSql(path_, "SELECT rootpage FROM sqlite_master WHERE name = 'sample'"));
    overwrite(path_, (root - 1) * kPage, kPage, '\xff');
    store->beginSession(session());
    store->append(sampleAt(kNoon));
    ASSERT_FALSE(store->flush());
    store.reset();
    store = writer(path_);
    ASSERT_THAT(setAside(), SizeIs(1));
  }
  // A sample a second later, into the new file.
  void expectNewFile(StoreWriter& store, const std::string& damaged) {
    store.beginSession(session());
    store.append(sampleAt(kNoon + 1000));
    ASSERT_TRUE(store.flush());
    ASSERT_THAT(setAside(), ElementsAre(aside_));
    EXPECT_EQ(readFile(aside_), damaged) << "as it was found";
    const StoreReader reader(path_);
    ASSERT_THAT(allSamples(reader), SizeIs(1));
    EXPECT_EQ(allSamples(reader)[0].time, kNoon + 1000);
    const auto events = allEvents(reader);
    ASSERT_THAT(events, SizeIs(1));
    EXPECT_THAT(events[0].message, HasSubstr("'" + path_ + "' is damaged and was renamed to '" + aside_ + "'"));
    EXPECT_EQ(events[0].message, reported_.all().back());
    EXPECT_EQ(runSql(path_, "PRAGMA integrity_check"), "ok");
  }
};

TEST_F(StoreDamage, FoundAtTheStartTheFileIsRenamed) {
  makeDatabase();
  damageSchema(path_);
  const std::string damaged = readFile(path_);
  EXPECT_MPM_ERROR(StoreReader{path_}, "is damaged: ");
  EXPECT_EQ(readFile(path_), damaged) << "a reader touches nothing";
  expectNewFile(*writer(path_), damaged);
}

// Whose the stored pictures are does not change with a new file.
TEST_F(StoreDamage, TheNewFileHasTheIdOfTheDamagedOne) {
  makeDatabase();
  const std::string id = StoreReader(path_).id();
  auto store = writer(path_);
  meetDamage(store);
  EXPECT_EQ(store->id(), id);
}

// What somebody hid stays hidden; where it cannot be read any more, nothing is shown until somebody says what may be.
TEST_F(StoreDamage, TheNewFileHidesWhatTheDamagedOneHid) {
  const std::string window = PrivacyOptions{.blurred = {"person"}}.json(),
                    everything = PrivacyOptions::everything().json();
  makeDatabase();
  auto store = writer(path_);
  store->setPrivacy("camera 0", window);
  ASSERT_TRUE(store->flush());
  meetDamage(store);
  EXPECT_EQ(StoreReader(path_).privacy("camera 0"), window);
  EXPECT_EQ(StoreReader(path_).privacy("camera 1"), "");
  EXPECT_EQ(fs::status(path_).permissions() & fs::perms::others_read, fs::perms::none);
  store.reset();
  damageSchema(path_);
  store = writer(path_);
  ASSERT_THAT(setAside(), SizeIs(2));
  EXPECT_EQ(StoreReader(path_).privacy("camera 0"), everything);
  EXPECT_THAT(reported_.all().back(), HasSubstr("whole pictures are blurred until --hide and --blur say it"));
  for (const std::string& said : {std::string(), window}) {
    store->setPrivacy("camera 0", said);
    ASSERT_TRUE(store->flush());
    EXPECT_EQ(StoreReader(path_).privacy("camera 0"), said);
    EXPECT_EQ(StoreReader(path_).privacy("camera 1"), everything);
  }
}

// A copy that ended early. SQLite itself notices a missing page, but not the missing end of the last one.
TEST_F(StoreDamage, AFileThatIsCutOffIsDamaged) {
  makeDatabase();
  const auto whole = fs::file_size(path_);
  for (const std::size_t missing : {kPage, std::size_t{100}, std::size_t{1}}) {
    fs::copy_file(path_, folder_ / "cut.db", fs::copy_options::overwrite_existing);
    fs::resize_file(folder_ / "cut.db", whole - missing);
    EXPECT_MPM_ERROR(StoreReader{folder_ / "cut.db"}, "cut.db' is damaged: its end is missing") << missing;
  }
  fs::resize_file(path_, whole - 1);
  const std::string damaged = readFile(path_);
  expectNewFile(*writer(path_), damaged);
}

// SQLite would wait for whoever writes into a FIFO.
TEST_F(StoreDamage, WhatIsNoFileIsRefused) {
  ASSERT_EQ(::mkfifo((path_ + "-lock").c_str(), 0600), 0);
  EXPECT_MPM_ERROR(writer(path_), "a.db-lock' is no file that can be locked");
  fs::remove(path_ + "-lock");
  fs::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_MPM_ERROR(writer(path_), "a.db");
  EXPECT_MPM_ERROR(StoreReader{path_}, "a.db' is not a database");
}

TEST_F(StoreDamage, EachErrorOfSqliteNamesTheFile) {
  makeDatabase();
  const StoreReader reader(path_);
  runSql(path_, "DROP TABLE bucket; DROP TABLE event");
  EXPECT_MPM_ERROR(reader.sources(), path_ + "': no such table: bucket");
  EXPECT_MPM_ERROR(reader.events(1, 0, INT64_MAX), path_ + "': no such table: event");
  EXPECT_MPM_ERROR(writer(path_), path_ + "': no such table: main.bucket");
}

// What no program of ours wrote is neither summed up until it overflows nor waited for.
TEST_F(StoreDamage, NumbersOfAnEditedFileAreRefused) {
  const auto read = [&](const std::string& edit) {
    for (const char* ending : {"", "-wal", "-shm"}) fs::remove(path_ + ending);
    makeDatabase();
    runSql(path_, edit);
    const StoreReader reader(path_);
    (void)reader.chart({.source = 1, .from = INT64_MIN, .to = INT64_MAX, .series = {{.quantity = "tokens"}}});
    (void)reader.dayNight(1, INT64_MIN, INT64_MAX);
    EXPECT_FALSE(reader.view("camera 0"));
    return allSamples(reader);
  };
  const std::string forgotten =
      "DELETE FROM sample; UPDATE source SET kept_from = json_array(9000000000000000); UPDATE bucket SET ";  // so that
                                                                                                             // its sums
                                                                                                             // are read
  for (const auto& one : std::initializer_list<std::pair<std::string, const char*>>{
           {forgotten + "samples = -1", "a sum is of -1 samples"},
           {forgotten + "samples = 0", "a sum is of 0 samples"},
           {forgotten + "night = 9", "a sum is of neither day nor night"},
           {forgotten + "sums = x'01'", "a sum has another size"},
           {forgotten + "tokens = x'01000000ffffffff'", "a sum of tokens is negative"},
           {"UPDATE sample SET time_ms = -9223372036854775807", "a sample has the time -9223372036854775807 ms"},
           {"UPDATE sample SET time_ms = -9223372036854775808", "a sample has the time -9223372036854775808 ms"},
           {forgotten + "start_ms = -9223372036854775808", "a sample has the time -9223372036854775808 ms"}})
    EXPECT_MPM_ERROR(read(one.first), "a.db' is damaged: " + std::string(one.second)) << one.first;
  const auto odd = read(
      "UPDATE region_sample SET areas = '{\"-5\":0.5,\"1\":0.5}'; UPDATE sample SET session = -3;"
      "INSERT INTO view_reference VALUES (1, -1, -1, 1, 0, 0, 0, 0, 1, -9, x'0102')");
  EXPECT_THAT(odd.at(0).whole().areas, ElementsAre(std::pair(1, 0.5)));
}

// A view without end would be read for ever, and a trigger would delete what is stored.
TEST_F(StoreDamage, CodeInAFileIsNotRun) {
  makeDatabase();
  runSql(path_, "CREATE TRIGGER bad AFTER INSERT ON sample BEGIN DELETE FROM event; END");
  {
    const auto store = writer(path_);
    store->beginSession(session());
    store->append(eventAt(kNoon, "it stays"));
    store->append(sampleAt(kNoon + kMinuteMs));
    ASSERT_TRUE(store->flush());
  }
  EXPECT_EQ(runSql(path_, "SELECT count(*) FROM event WHERE message = 'it stays'"), "1");
  runSql(path_,
         "ALTER TABLE sample RENAME TO kept; CREATE VIEW sample AS WITH RECURSIVE endless(n) AS"
         " (SELECT 1 UNION ALL SELECT n + 1 FROM endless) SELECT kept.* FROM endless, kept");
  EXPECT_MPM_ERROR(StoreReader(path_).sources(), "a.db': ");
}

TEST_F(StoreDamage, ReadingEndsAtItsDeadline) {
  makeDatabase();
  StoreReader reader(path_);
  reader.setDeadline(steadyNow() - 1);
  EXPECT_MPM_ERROR(reader.sources(), "a.db': it takes too long to read");
  reader.setDeadline(steadyNow() + 3'600'000);
  EXPECT_EQ(reader.sources().size(), 1);
  Database database(path_, Database::Mode::kReadOnly);
  database.setDeadline(steadyNow() + 50);
  EXPECT_MPM_ERROR(database.integer("WITH RECURSIVE endless(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless)"
                                    " SELECT count(*) FROM endless"),
                   "a.db': it takes too long to read");
}

TEST_F(StoreDamage, FoundWhileWritingStopsTheStore) {
  makeDatabase();
  auto store = writer(path_);
  damageTables(path_);
  store->beginSession(session());
  for (int i = 0; i < 3; ++i) store->append(sampleAt(kNoon + i));
  ASSERT_FALSE(store->flush());
  EXPECT_TRUE(store->status().stopped);
  EXPECT_THAT(store->status().problem, HasSubstr(path_));
  store->append(sampleAt(kNoon));
  EXPECT_FALSE(store->flush());
  EXPECT_EQ(store->status().pending, 0) << "nothing waits in vain";
  ASSERT_THAT(reported_.all(), SizeIs(1)) << "one event";
  EXPECT_THAT(reported_.all()[0], HasSubstr("nothing is stored any more: "));
  EXPECT_THAT(setAside(), SizeIs(0)) << "the next start renames it";
  store.reset();
  damageHeader(path_);  // the writer has noted that it was ours
  const std::string damaged = readFile(path_);
  expectNewFile(*writer(path_), damaged);
  EXPECT_FALSE(writer(path_)->status().stopped);
  EXPECT_THAT(setAside(), SizeIs(1)) << "the new file is sound";
}

TEST_F(StoreDamage, AfterItStoringGoesOnWhereAsked) {
  const auto store = writer(path_);
  store->storeIn(folder_ / "b.db");
  EXPECT_FALSE(fs::exists(folder_ / "b.db")) << "it has not stopped";
  for (const std::string& next : {folder_ / "b.db", path_}) {
    store->beginSession(session());
    fs::remove(next == path_ ? folder_ / "b.db" : path_);
    store->append(sampleAt(kNoon));
    ASSERT_FALSE(store->flush());
    EXPECT_THAT(store->status().problem, HasSubstr("was deleted"));
    store->storeIn(next);
    EXPECT_EQ(store->status().problem, "");
    store->append(sampleAt(kNoon + 1000));
    ASSERT_TRUE(store->flush());
    const StoreReader reader(next);
    EXPECT_THAT(allSamples(reader), SizeIs(1)) << "in a session of its own";
    EXPECT_EQ(reader.sessions(1).at(0).classes, session().classes);
  }
}

TEST_F(StoreDamage, TheLogGoesWithItsFile) {
  const std::string log = folder_ / "log";
  {
    const auto store = writer(path_);
    store->beginSession(session());
    ASSERT_TRUE(store->flush());
    fs::copy_file(path_ + "-wal", log);  // as a kill leaves it
  }
  fs::rename(log, path_ + "-wal");
  overwrite(path_, 0, 16, 'x');  // the application_id is still there
  overwrite(path_ + "-wal", 0, 4, 'x');
  const std::string bytes = readFile(path_ + "-wal");
  const auto store = writer(path_);
  EXPECT_THAT(setAside(), SizeIs(1));
  EXPECT_EQ(readFile(aside_ + "-wal"), bytes);
}

// Beside the new file, SQLite would take it for the journal of that one.
TEST_F(StoreDamage, AJournalGoesWithItsFile) {
  makeDatabase();
  damageSchema(path_);
  std::ofstream(path_ + "-journal") << std::string(16, '\0');  // as PRAGMA journal_mode = PERSIST leaves one
  const auto store = writer(path_);
  EXPECT_FALSE(fs::exists(path_ + "-journal"));
  EXPECT_EQ(readFile(aside_ + "-journal"), std::string(16, '\0'));
}

TEST_F(StoreDamage, OfTheFileBeforeIsNoneOfItsCopy) {
  makeDatabase();
  fs::copy_file(path_, folder_ / "copy.db");
  {
    const auto store = writer(path_);
    damageTables(path_);
    store->beginSession(session());
    store->append(sampleAt(kNoon));
    ASSERT_FALSE(store->flush());
  }
  for (const char* ending : {"-wal", "-shm"}) fs::remove(path_ + ending);
  fs::rename(folder_ / "copy.db", path_);
  const auto store = writer(path_);
  EXPECT_THAT(setAside(), SizeIs(0));
  EXPECT_THAT(allSamples(StoreReader(path_)), SizeIs(1));
}

TEST_F(StoreDamage, AFileThatIsNotOursStaysWhereItIs) {
  const auto expectLeftAlone = [&](const std::string& what) {
    const std::string before = readFile(path_);
    EXPECT_MPM_ERROR(writer(path_), "a.db");
    EXPECT_EQ(readFile(path_), before) << what;
    EXPECT_THAT(setAside(), SizeIs(0)) << what;
  };
  std::ofstream(path_) << std::string(2 * kPage, 'x');
  expectLeftAlone("a text");
  EXPECT_FALSE(fs::exists(path_ + "-lock"));

  fs::remove(path_);
  runSql(path_, "CREATE TABLE theirs(x); INSERT INTO theirs VALUES (1)");
  damageSchema(path_);
  expectLeftAlone("a damaged database of another program");

  fs::remove(path_);
  makeDatabase();
  damageHeader(path_);
  expectLeftAlone("nothing says that it was ours");

  fs::remove(path_);
  makeDatabase();
  runSql(path_, "ALTER TABLE sample RENAME COLUMN night TO luminosity");
  expectLeftAlone("someone changed it");
}

TEST_F(StoreDamage, AFileOfTheSameNameIsNotReplaced) {
  for (int i = 0; i < 3; ++i) {
    makeDatabase();
    damageSchema(path_);
    writer(path_);
  }
  EXPECT_THAT(setAside(), ::testing::UnorderedElementsAre(aside_, aside_ + ".2", aside_ + ".3"));
}

TEST_F(StoreDamage, ALinkGoesOnLeadingToTheDatabase) {
  makeDatabase();
  fs::create_symlink(path_, folder_ / "link.db");
  damageSchema(path_);
  writer(folder_ / "link.db");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.db"));
  EXPECT_THAT(setAside(), SizeIs(1));
  EXPECT_THAT(StoreReader(path_).sources(), SizeIs(0));
}

TEST_F(StoreDamage, IsNotWhatPassesByItself) {
  for (int code : {SQLITE_BUSY, SQLITE_FULL, SQLITE_IOERR_READ, SQLITE_READONLY_DBMOVED, SQLITE_NOMEM}) {
    EXPECT_TRUE(SqliteError(code, "").passesByItself()) << code;
    EXPECT_FALSE(SqliteError(code, "").isDamage()) << code;
  }
  for (int code : {SQLITE_TOOBIG, SQLITE_ERROR, SQLITE_MISMATCH})
    EXPECT_FALSE(SqliteError(code, "").passesByItself() || SqliteError(code, "").isDamage());
  for (int code : {SQLITE_CORRUPT, SQLITE_CORRUPT_INDEX, SQLITE_NOTADB})
    EXPECT_TRUE(SqliteError(code, "").isDamage()) << code;
}

}  // namespace
}  // namespace mpm::monitor::test
