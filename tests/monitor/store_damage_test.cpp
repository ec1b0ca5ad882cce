// SPDX-License-Identifier: Apache-2.0
// A file that a power cut or a dying SD card damaged.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "monitor/samples.h"
#include "monitor/sql.h"
#include "monitor/store/damage.h"
#include "monitor/store/store.h"
#include "monitor/wait.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::monitor::test {
namespace {

namespace fs = std::filesystem;
using mpm::test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::size_t kPage = 4096;

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void overwrite(const std::string& path, std::size_t from, std::size_t size, char with) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(from));
  file << std::string(size, with);
}

// What is in the log would hide the damage. A checkpoint does nothing while the writer looks at its retention.
void emptyLog(const std::string& path) {
  EXPECT_TRUE(eventually([&] {
    runSql(path, "PRAGMA wal_checkpoint(TRUNCATE)");
    return fs::file_size(path + "-wal") == 0;
  }));
}

void damageHeader(const std::string& path) { overwrite(path, 0, kPage, '\0'); }
void damageSchema(const std::string& path) { overwrite(path, 100, kPage - 100, '\xff'); }
void damageTables(const std::string& path) { overwrite(path, kPage, fs::file_size(path) - kPage, '\xff'); }

void writeOneSample(const std::string& path) {
  StoreWriter writer(path);
  writer.beginSession(session());
  writer.append(sampleAt(kNoon));
}

std::vector<std::string> setAsideOf(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(path).parent_path()))
    if (const std::string name = entry.path().string();
        name.starts_with(path + ".damaged-") && !name.ends_with("-wal") && !name.ends_with("-shm"))
      names.push_back(name);
  return names;
}

StoreOptions quick() {
  StoreOptions options;
  options.retry_s = 0.01;
  options.now = [] { return kNoon; };
  return options;
}

// Lets go of the connection that a writer has, and with it of what it remembers of the file.
void whileTakenAway(StoreWriter& writer, const std::string& path, const std::function<void(const std::string&)>& work) {
  fs::rename(path, path + ".away");
  writer.append(Event{kNoon, EventKind::kSource, Severity::kInfo, "Live"});
  EXPECT_FALSE(writer.flush());
  work(path + ".away");
  fs::rename(path + ".away", path);
}

void expectNewFile(const std::string& path, const std::string& damaged, const Collected<Event>& reported) {
  ASSERT_THAT(setAsideOf(path), ElementsAre(path + ".damaged-2026-06-01T12-00-00Z"));
  EXPECT_EQ(contents(setAsideOf(path)[0]), damaged) << "as it was found";
  std::vector<std::string> storage;
  for (const Event& event : reported.all())
    if (event.message.find("is damaged and was renamed") != std::string::npos) storage.push_back(event.message);
  ASSERT_THAT(storage, SizeIs(1));
  EXPECT_THAT(storage[0], HasSubstr(setAsideOf(path)[0]));
  const auto events = StoreReader(path).events(1, INT64_MIN, INT64_MAX);
  EXPECT_EQ(
      std::count_if(events.begin(), events.end(), [&](const Event& event) { return event.message == storage[0]; }), 1);
  EXPECT_EQ(runSql(path, "PRAGMA integrity_check"), "ok");
}

TEST(StoreDamage, ADamagedFileIsSetAsideAtTheStart) {
  for (const auto& damage : {damageHeader, damageSchema}) {
    const TemporaryFolder folder;
    const std::string path = folder / "a.db";
    writeOneSample(path);
    damage(path);
    const std::string damaged = contents(path);
    EXPECT_MPM_ERROR(StoreReader{path}, "is damaged: ");
    EXPECT_EQ(contents(path), damaged) << "a reader touches nothing";
    Collected<Event> reported;
    StoreWriter writer(path, quick(), [&](const Event& event) { reported.add(event); });
    writer.beginSession(session());
    writer.append(sampleAt(kNoon + 1000));
    ASSERT_TRUE(writer.flush());
    EXPECT_THAT(allSamples(StoreReader(path)), SizeIs(1));
    expectNewFile(path, damaged, reported);
  }
}

TEST(StoreDamage, TheLogGoesWithItsFile) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.db", copy = folder / "b.db";
  {
    StoreWriter writer(path);
    writer.beginSession(session());
    writer.append(sampleAt(kNoon));
    ASSERT_TRUE(writer.flush());
    fs::copy_file(path + "-wal", copy + "-wal");  // as a kill leaves it
  }
  fs::rename(path, copy);
  fs::remove(path + "-lock");
  overwrite(copy, 0, 16, 'x');  // the application_id is still there
  overwrite(copy + "-wal", 0, 4, 'x');
  const std::string log = contents(copy + "-wal");
  const StoreWriter writer(copy, quick());
  ASSERT_THAT(setAsideOf(copy), SizeIs(1));
  EXPECT_EQ(contents(copy + ".damaged-2026-06-01T12-00-00Z-wal"), log);
}

TEST(StoreDamage, AFileThatIsDamagedWhileItIsWrittenIsSetAside) {
  for (const auto& damage : {damageHeader, damageSchema, damageTables}) {
    const TemporaryFolder folder;
    const std::string path = folder / "a.db";
    Collected<Event> reported;
    StoreWriter writer(path, quick(), [&](const Event& event) { reported.add(event); });
    writer.beginSession(session());
    writer.append(sampleAt(kNoon));
    ASSERT_TRUE(writer.flush());
    emptyLog(path);
    std::string damaged;
    whileTakenAway(writer, path, [&](const std::string& file) {
      damage(file);
      damaged = contents(file);
    });
    for (int i = 1; i <= 3; ++i) writer.append(sampleAt(kNoon + i * 1000));
    ASSERT_TRUE(eventually([&] { return writer.flush(); }));
    ASSERT_TRUE(writer.flush());
    EXPECT_TRUE(writer.status().writing);
    EXPECT_EQ(writer.status().lost, 0);
    const StoreReader reader(path);
    EXPECT_THAT(allSamples(reader), SizeIs(3)) << "what was in hand is in the new file";
    ASSERT_THAT(reader.sessions(1), SizeIs(1));
    EXPECT_EQ(reader.sessions(1)[0].classes, session().classes);
    expectNewFile(path, damaged, reported);
  }
}

TEST(StoreDamage, ADiskThatDamagesEachFileGetsNoHeapOfThem) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.db";
  StoreWriter writer(path, quick());
  writer.beginSession(session());
  ASSERT_TRUE(writer.flush());
  for (int round = 0; round < 2; ++round) {
    emptyLog(path);
    whileTakenAway(writer, path, damageTables);
    writer.append(sampleAt(kNoon));
    if (round == 0) {
      ASSERT_TRUE(eventually([&] { return writer.flush(); }));
      ASSERT_TRUE(writer.flush());
    }
  }
  EXPECT_FALSE(writer.flush());
  EXPECT_FALSE(writer.flush());
  EXPECT_THAT(writer.status().problem, HasSubstr("is damaged"));
  EXPECT_EQ(writer.status().pending, 1) << "waits in memory";
  EXPECT_THAT(setAsideOf(path), SizeIs(1));
}

TEST(StoreDamage, OfTwoWritersOneSetsTheFileAside) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.db";
  StoreWriter first(path, quick()), second(path, quick());
  first.beginSession(session("first"));
  second.beginSession(session("second"));
  ASSERT_TRUE(first.flush() && second.flush());
  emptyLog(path);
  whileTakenAway(first, path, [&](const std::string& file) {
    second.append(sampleAt(kNoon));
    EXPECT_FALSE(second.flush());
    damageTables(file);
  });
  first.append(sampleAt(kNoon));
  ASSERT_TRUE(eventually([&] { return first.flush(); }));
  ASSERT_TRUE(eventually([&] { return second.flush(); }));
  EXPECT_THAT(setAsideOf(path), SizeIs(1));
  const StoreReader reader(path);
  ASSERT_THAT(reader.sources(), SizeIs(2));
  EXPECT_EQ(reader.sources()[0].samples, 1);
  EXPECT_EQ(reader.sources()[1].samples, 1);
}

TEST(StoreDamage, AFileThatIsCutWhileItIsWrittenIsSetAside) {
  for (const std::size_t left : {std::size_t{0}, 3 * kPage, 3 * kPage + 100}) {
    const TemporaryFolder folder;
    const std::string path = folder / "a.db";
    Collected<Event> reported;
    StoreWriter writer(path, quick(), [&](const Event& event) { reported.add(event); });
    writer.beginSession(session());
    for (int i = 0; i < 500; ++i) writer.append(sampleAt(kNoon + i * 1000));
    ASSERT_TRUE(writer.flush());
    emptyLog(path);
    writer.append(sampleAt(kNoon));
    ASSERT_TRUE(writer.flush());  // and looked at
    fs::resize_file(path, left);
    const std::string damaged = contents(path);
    for (int i = 1; i <= 3; ++i) writer.append(sampleAt(kNoon + i * 1000));
    EXPECT_FALSE(writer.flush()) << "it may be a copy that is under way";
    EXPECT_THAT(writer.status().problem, HasSubstr("was cut to " + std::to_string(left) + " bytes"));
    ASSERT_TRUE(eventually([&] { return writer.flush(); }));
    ASSERT_TRUE(writer.flush());
    EXPECT_THAT(allSamples(StoreReader(path)), SizeIs(3));
    expectNewFile(path, damaged, reported);
    EXPECT_TRUE(fs::exists(path + ".damaged-2026-06-01T12-00-00Z-wal")) << "what no checkpoint has moved";
  }
}

TEST(StoreDamage, AFileThatGetsSmallerByItselfIsSound) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.db";
  StoreWriter writer(path, quick());
  writer.beginSession(session());
  for (int i = 0; i < 3000; ++i) writer.append(sampleAt(kNoon + i * 1000));
  ASSERT_TRUE(writer.flush());
  emptyLog(path);
  const auto before = fs::file_size(path);
  runSql(path, "DELETE FROM sample WHERE id < 2900; PRAGMA incremental_vacuum");
  emptyLog(path);
  ASSERT_LT(fs::file_size(path), before);
  writer.append(sampleAt(kNoon));
  EXPECT_TRUE(writer.flush());
  EXPECT_THAT(setAsideOf(path), SizeIs(0));
}

TEST(StoreDamage, AnEmptyFileThatHeldADatabaseIsReported) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.db";
  writeOneSample(path);
  fs::resize_file(path, 0);
  Collected<Event> reported;
  StoreWriter writer(path, quick(), [&](const Event& event) { reported.add(event); });
  writer.beginSession(session());
  writer.append(sampleAt(kNoon + 1000));
  ASSERT_TRUE(writer.flush());
  expectNewFile(path, "", reported);
}

// `from` and `to` are of one length.
void replaceBytes(const std::string& path, const std::string& from, const std::string& to) {
  std::string bytes = contents(path);
  const std::size_t at = bytes.find(from);
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, from.size(), to);
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(StoreDamage, AByteOfATablesDefinitionIsDamage) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.db";
  writeOneSample(path);
  replaceBytes(path, "brightness REAL", "bryghtness REAL");
  const std::string damaged = contents(path);
  Collected<Event> reported;
  StoreWriter writer(path, quick(), [&](const Event& event) { reported.add(event); });
  writer.beginSession(session());
  writer.append(sampleAt(kNoon + 1000));
  ASSERT_TRUE(writer.flush());
  expectNewFile(path, damaged, reported);
}

TEST(StoreDamage, ADefinitionThatSomeoneChangedIsNone) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.db";
  writeOneSample(path);
  runSql(path, "ALTER TABLE sample RENAME COLUMN brightness TO luminosity");
  EXPECT_MPM_ERROR(StoreWriter(path, quick()), "cannot use database '" + path + "': ");
  EXPECT_THAT(setAsideOf(path), SizeIs(0));
  EXPECT_EQ(runSql(path, "SELECT count(*) FROM sample"), "1");
}

TEST(StoreDamage, OneOfANewerVersionStaysWhereItIs) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.db";
  writeOneSample(path);
  runSql(path, "PRAGMA user_version = 7");
  EXPECT_MPM_ERROR(StoreWriter(path, quick()), "newer version");
  EXPECT_THAT(setAsideOf(path), SizeIs(0));
}

TEST(StoreDamage, IsFoundBehindAnErrorThatHasAnotherName) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.db";
  writeOneSample(path);
  EXPECT_EQ(findDamage(path), std::nullopt);
  damageTables(path);
  EXPECT_NE(findDamage(path), std::nullopt);
}

TEST(StoreDamage, AFileThatNeverWasOursStaysWhereItIs) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.db";
  const auto expectLeftAlone = [&](const std::string& what) {
    const std::string before = contents(path);
    EXPECT_MPM_ERROR(StoreWriter(path, quick()), "a.db");
    EXPECT_EQ(contents(path), before) << what;
    EXPECT_THAT(setAsideOf(path), SizeIs(0)) << what;
  };
  std::ofstream(path) << std::string(2 * kPage, 'x');
  expectLeftAlone("a text");

  fs::remove(path);
  runSql(path, "CREATE TABLE theirs(x); INSERT INTO theirs VALUES (1)");
  damageSchema(path);
  expectLeftAlone("a damaged database of another program");

  fs::remove(path);
  writeOneSample(path);
  fs::rename(path, folder / "b.db");
  std::ofstream(path) << std::string(2 * kPage, 'x');
  expectLeftAlone("another file where one of ours was");

  fs::remove(path);
  fs::rename(folder / "b.db", path);
  fs::remove(path + "-lock");
  damageHeader(path);
  expectLeftAlone("nothing says that it was ours");
}

TEST(StoreDamage, AFileOfTheSameNameIsNotReplaced) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.db";
  for (int i = 0; i < 3; ++i) {
    writeOneSample(path);
    damageSchema(path);
    const StoreWriter writer(path, quick());
  }
  EXPECT_THAT(setAsideOf(path), ::testing::UnorderedElementsAre(path + ".damaged-2026-06-01T12-00-00Z",
                                                                path + ".damaged-2026-06-01T12-00-00Z.2",
                                                                path + ".damaged-2026-06-01T12-00-00Z.3"));
}

TEST(StoreDamage, ALinkGoesOnLeadingToTheDatabase) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.db";
  writeOneSample(path);
  fs::create_symlink(path, folder / "link.db");
  damageSchema(path);
  { const StoreWriter writer(folder / "link.db", quick()); }
  EXPECT_TRUE(fs::is_symlink(folder / "link.db"));
  EXPECT_THAT(setAsideOf(path), SizeIs(1));
  EXPECT_THAT(StoreReader(path).sources(), SizeIs(0));
}

TEST(StoreDamage, IsNotWhatPassesByItself) {
  for (int code : {SQLITE_BUSY, SQLITE_LOCKED, SQLITE_FULL, SQLITE_PERM, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_IOERR,
                   SQLITE_IOERR_READ, SQLITE_NOMEM, SQLITE_ERROR})
    EXPECT_FALSE(isDamage(code)) << code;
  for (int code : {SQLITE_TOOBIG, SQLITE_ERROR, SQLITE_CORRUPT, SQLITE_MISMATCH})
    EXPECT_FALSE(passesByItself(code)) << code;
  for (int code : {SQLITE_BUSY, SQLITE_FULL, SQLITE_IOERR_READ, SQLITE_READONLY_DBMOVED, SQLITE_NOMEM})
    EXPECT_TRUE(passesByItself(code)) << code;
  for (int code : {SQLITE_CORRUPT, SQLITE_CORRUPT_INDEX, SQLITE_NOTADB}) EXPECT_TRUE(isDamage(code)) << code;
}

}  // namespace
}  // namespace mpm::monitor::test
