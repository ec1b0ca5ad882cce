// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <random>

#include "monitor/recorder.h"
#include "monitor/samples.h"
#include "monitor/sql.h"
#include "monitor/wait.h"
#include "support/file_size_limit.h"
#include "support/throws_with.h"

namespace mpm::monitor::test {
namespace {

using mpm::test::FileSizeLimit;
using StoreFaults = InFolder;

// Starts the victim, kills it some time after its first commit. Returns how many samples it knew to be committed.
std::int64_t runAndKill(const std::string& path, std::size_t first, int microseconds) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const std::string number = std::to_string(first);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execl(MPM_STORE_VICTIM, MPM_STORE_VICTIM, path.c_str(), number.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(ends[1]);
  std::int64_t committed = 0, count = 0;
  bool killed = false;
  while (::read(ends[0], &count, sizeof count) == sizeof count) {
    committed = count;
    if (!killed) {
      ::usleep(static_cast<useconds_t>(microseconds));
      ::kill(child, SIGKILL);
      killed = true;
    }
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the victim ended by itself";
  return committed;
}

TEST_F(StoreFaults, AKillLosesNothingThatWasCommitted) {
  constexpr int kRounds = 15;
  std::mt19937 random(7);
  std::size_t before = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::int64_t committed = runAndKill(path_, before, std::uniform_int_distribution(0, 60000)(random));
    ASSERT_GT(committed, 0);
    const StoreReader reader(path_);  // opens, as it is, right after the kill
    const auto samples = allSamples(reader);
    ASSERT_GE(samples.size(), before + static_cast<std::size_t>(committed)) << "round " << round;
    for (std::size_t i = 0; i < samples.size(); ++i)
      ASSERT_EQ(samples[i].time, static_cast<UnixMs>(i) * 1000) << "a hole in round " << round;
    std::int64_t in_hours = 0;  // what was summed up agrees with what is there one by one
    for (const HourOfTokens& hour : reader.hoursOfTokens(1, INT64_MIN, INT64_MAX))
      for (const auto& [tokens, count] : hour.occurrences) in_hours += count;
    ASSERT_EQ(in_hours, static_cast<std::int64_t>(samples.size()));
    ASSERT_EQ(runSql(path_, "PRAGMA integrity_check"), "ok");
    before = samples.size();
  }
  EXPECT_THAT(StoreReader(path_).sessions(1), SizeIs(kRounds));
}

void fillDisk(const std::string& ballast) {
  std::ofstream file(ballast, std::ios::binary);
  const std::string block(4096, 'x');
  while (file.write(block.data(), 4096).flush()) continue;
}

// A disk that is full in the middle, seen by a writer that must go on.
void expectSurvivesFullDisk(const std::string& path, const std::function<void()>& fill,
                            const std::function<void()>& free) {
  Collected<Event> reported;
  RunningWriter writer(path, {.commit_s = 0.001, .retry_s = 0.01, .report_s = 0, .max_pending = 3000},
                       [&](const Event& event) { reported.add(event); });
  int number = 0;
  for (; number < 50; ++number) writer.append(sampleAt(kNoon + number * 1000));
  ASSERT_TRUE(writer.flush());
  ASSERT_TRUE(reported.all().empty());

  fill();
  int failures = 0;  // in a row: a first one may make room by ending the write-ahead log
  for (int i = 0; i < 20000 && failures < 3; ++i) {
    writer.append(sampleAt(kNoon + number++ * 1000));
    failures = writer.flush() ? 0 : failures + 1;
  }
  ASSERT_EQ(failures, 3) << "the disk did not fill";
  const std::int64_t committed = writer.status().samples;
  EXPECT_FALSE(writer.status().writing);
  EXPECT_NE(writer.status().problem, "");
  EXPECT_GT(writer.status().pending, 0);
  for (int i = 0; i < 100; ++i) writer.append(sampleAt(kNoon + number++ * 1000));
  EXPECT_FALSE(writer.flush());
  EXPECT_EQ(writer.status().samples, committed);
  const std::vector<Event> when_full = reported.all();
  ASSERT_FALSE(when_full.empty());
  EXPECT_EQ(when_full.back().kind, EventKind::kStorage);
  EXPECT_EQ(when_full.back().severity, Severity::kError);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(writer.flush());
  EXPECT_EQ(reported.all().size(), when_full.size()) << "reported once, not at every try";
  EXPECT_EQ(allSamples(StoreReader(path)).size(), static_cast<std::size_t>(committed)) << "still readable";

  free();
  while (!writer.flush()) ::usleep(1000);
  EXPECT_TRUE(writer.status().writing);
  EXPECT_EQ(writer.status().lost, 0);
  ASSERT_TRUE(writer.flush());  // the event of its own
  const StoreReader reader(path);
  EXPECT_EQ(allSamples(reader).size(), static_cast<std::size_t>(number)) << "what waited in memory was written";
  const auto events = allEvents(reader);
  ASSERT_EQ(events.size(), when_full.size() + 1);
  EXPECT_THAT(events[events.size() - 2].message, HasSubstr("cannot write"));
  EXPECT_THAT(events.back().message, HasSubstr("writing again"));
  EXPECT_EQ(runSql(path, "PRAGMA integrity_check"), "ok");
}

// A power cut takes what was not synced, which is the write-ahead log.
TEST_F(StoreFaults, WithoutItsLogTheFileHasWhatMaintenanceSynced) {
  StoreOptions options;
  options.maintenance_s = 0.01;
  RunningWriter writer(path_, options);
  writer.append(sampleAt(kNoon));
  ASSERT_TRUE(writer.flush());
  const std::string copy = folder_ / "b.db";
  EXPECT_TRUE(eventually([&] {
    fs::copy_file(path_, copy, fs::copy_options::overwrite_existing);
    try {
      return allSamples(StoreReader(copy)).size() == 1;
    } catch (const Error&) {  // it was copied in the middle of the sync
      return false;
    }
  }));
}

TEST_F(StoreFaults, AFullDiskStopsTheWritingUntilThereIsSpace) {
  std::optional<FileSizeLimit> full;
  expectSurvivesFullDisk(
      path_, [&] { full.emplace(200'000); }, [&] { full.reset(); });
}

TEST_F(StoreFaults, AFullFileSystemStopsWritingUntilThereIsSpace) {
  if (::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=1m") != 0)
    GTEST_SKIP() << "a file system of one megabyte needs the right to mount";
  const std::string ballast = folder_ / "ballast";
  expectSurvivesFullDisk(
      path_, [&] { fillDisk(ballast); }, [&] { fs::remove(ballast); });
  ::umount2(folder_.path().c_str(), MNT_DETACH);
}

TEST_F(StoreFaults, AFileSystemThatIsFullAtTheStartIsWaitedFor) {
  if (::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=1m") != 0)
    GTEST_SKIP() << "a file system of one megabyte needs the right to mount";
  const std::string ballast = folder_ / "ballast";
  for (const char* name : {"a.db", "a.db", "b.db"}) {  // one that is made later, one that is there, again a new one
    fillDisk(ballast);
    Collected<Event> reported;
    RunningWriter writer(folder_ / name, {.retry_s = 0.01}, [&](const Event& event) { reported.add(event); });
    writer.append(sampleAt(kNoon));
    EXPECT_FALSE(writer.flush());
    EXPECT_FALSE(writer.status().writing);
    ASSERT_EQ(reported.all().size(), 1u);
    EXPECT_THAT(reported.all()[0].message, AllOf(HasSubstr(name), HasSubstr("full")));
    fs::remove(ballast);
    while (!writer.flush()) ::usleep(1000);
    EXPECT_FALSE(allSamples(StoreReader(folder_ / name)).empty());
  }
  ::umount2(folder_.path().c_str(), MNT_DETACH);
}

TEST_F(StoreFaults, MemoryIsBoundedWhileTheDiskIsFull) {
  RunningWriter writer(path_, {.retry_s = 3600, .max_pending = 100});
  ASSERT_TRUE(writer.flush());
  std::optional<FileSizeLimit> full(0);
  for (int i = 0; i < 1000; ++i) writer.append(sampleAt(kNoon + i * 1000));
  EXPECT_FALSE(writer.flush());
  for (int i = 1000; i < 2000; ++i) writer.append(sampleAt(kNoon + i * 1000));
  EXPECT_EQ(writer.status().pending, 100);
  EXPECT_EQ(writer.status().lost, 1900);
  writer.append(eventAt(kNoon, "kept"));
  for (int i = 0; i < 2000; ++i) writer.forgetSent("mqtt", i);  // a broker confirms messages
  full.reset();
  ASSERT_TRUE(writer.flush());
  EXPECT_EQ(runSql(path_, "SELECT count(*) FROM event WHERE message = 'kept'"), "1");
  const auto samples = allSamples(StoreReader(path_));
  ASSERT_EQ(samples.size(), 100u);
  EXPECT_EQ(samples.front().time, kNoon + 1900 * 1000) << "the newest are kept";
}

// Another program that holds the lock of the database looks like a disk that takes its time.
TEST_F(StoreFaults, ADiskThatDoesNotAnswerBoundsTheMemory) {
  Collected<Event> reported;
  StoreWriter writer(path_, {.commit_s = 0.001, .retry_s = 0.001, .patience_s = 0.05, .max_pending = 100});
  Recorder recorder({.source = "camera 0"}, &writer, [&](const Event& event) { reported.add(event); });
  writer.beginSession(session());
  ASSERT_TRUE(writer.flush());
  recorder.tick({}, kNoon, 0);
  EXPECT_TRUE(reported.all().empty());

  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  writer.append(sampleAt(kNoon));
  EXPECT_FALSE(writer.flush(0.1)) << "it waits no longer than it was reported to";
  ASSERT_TRUE(eventually([&] { return !writer.status().answers; }));
  for (int second = 0; reported.all().empty(); ++second) recorder.tick({}, kNoon, second * 1000);
  EXPECT_EQ(reported.all()[0].severity, Severity::kError);
  EXPECT_THAT(reported.all()[0].message, AllOf(HasSubstr("a.db"), HasSubstr("has not answered for")));
  for (int i = 1; i <= 1000; ++i) writer.append(sampleAt(kNoon + i * 1000));
  EXPECT_LE(writer.status().pending, 200) << "in hand and behind it";
  EXPECT_GE(writer.status().lost, 801);
  ASSERT_EQ(sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(other);

  ASSERT_TRUE(eventually([&] { return writer.flush(); }));
  ASSERT_TRUE(eventually([&] {
    recorder.tick({}, kNoon, 1'000'000);
    return reported.all().back().message == "the disk answers again";
  }));
  EXPECT_TRUE(writer.status().writing);
  EXPECT_FALSE(writer.status().stuck());
  EXPECT_EQ(allSamples(StoreReader(path_)).back().time, kNoon + 1000 * 1000) << "the newest are kept";
  EXPECT_TRUE(WriterStatus{.busy_s = 600}.stuck());
}

// Of a file that is taken away for a moment, as of a disk that has room for a few samples again and again.
TEST_F(StoreFaults, TroubleThatComesAndGoesIsReportedOnceInAWhile) {
  for (double report_s : {3600.0, 0.1}) {
    Collected<Event> reported;
    RunningWriter writer(path_, {.retry_s = 0.01, .report_s = report_s},
                         [&](const Event& event) { reported.add(event); });
    ASSERT_TRUE(writer.flush());
    const auto takeAway = [&] {
      fs::rename(path_, folder_ / "b.db");
      writer.append(sampleAt(kNoon));
      EXPECT_FALSE(writer.flush());
      EXPECT_THAT(writer.status().problem, HasSubstr("a.db"));
      EXPECT_FALSE(fs::exists(path_)) << "its disk may have been unplugged";
    };
    const auto bringBack = [&] {
      fs::rename(folder_ / "b.db", path_);
      while (!writer.flush()) ::usleep(1000);
    };
    takeAway();
    bringBack();
    while (reported.all().size() < 2) ::usleep(1000);  // gone, and back
    if (report_s > 1) {
      for (int i = 0; i < 5; ++i) {
        takeAway();
        bringBack();
      }
    }
    EXPECT_EQ(reported.all().size(), 2u);
    if (report_s < 1) {
      takeAway();
      while (reported.all().size() < 3) ::usleep(1000);  // it lasts: reported after all
      bringBack();
      while (reported.all().size() < 4) ::usleep(1000);
    }
  }
  EXPECT_EQ(allSamples(StoreReader(path_)).size(), 6u + 2u);
  EXPECT_EQ(StoreReader(path_).sessions(1).size(), 2u) << "of two writers";
}

TEST_F(StoreFaults, ADamagedSumStopsNoSamples) {
  record(path_, {sampleAt(kNoon)});
  runSql(path_, "UPDATE bucket SET sums = x'01', tokens = x'ff'");
  record(path_, {sampleAt(kNoon + 1000)});
  EXPECT_EQ(allSamples(StoreReader(path_)).size(), 2u);
}

TEST_F(StoreFaults, AnotherFileInItsPlaceStopsTheStore) {
  const auto letter = [&] { std::ofstream(path_) << "a letter"; };
  const auto ours = [&] { StoreWriter(folder_ / "b.db").beginSession(session("another camera")); };
  for (const std::function<void()>& replace : {std::function<void()>(letter), std::function<void()>(ours)}) {
    for (const char* ending : {"", "-wal", "-shm"}) fs::remove(path_ + ending);
    RunningWriter writer(path_, {.retry_s = 0.01});
    ASSERT_TRUE(writer.flush());
    for (const char* ending : {"", "-wal", "-shm"}) fs::rename(path_ + ending, folder_ / "away" + ending);
    replace();
    if (fs::exists(folder_ / "b.db")) fs::rename(folder_ / "b.db", path_);
    const auto size = fs::file_size(path_);
    writer.append(sampleAt(kNoon));
    ASSERT_TRUE(eventually([&] { return !writer.flush() && writer.status().stopped; }));
    EXPECT_THAT(writer.status().problem, HasSubstr(path_));
    EXPECT_EQ(fs::file_size(path_), size);
    EXPECT_EQ(StoreReader(folder_ / "away").sessions(1).size(), 1u) << "with what was in its log";
  }
}

TEST_F(StoreFaults, AFileThatMayNotBeWrittenIsRefused) {
  { const StoreWriter made(path_); }
  fs::permissions(path_, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  fs::permissions(folder_.path(), fs::perms::all);
  const bool root = ::geteuid() == 0;  // whom no mode of a file keeps out
  if (root && ::seteuid(65534) != 0) GTEST_SKIP() << "cannot become another user";
  EXPECT_MPM_ERROR(StoreWriter{path_}, "may not be written by this user");
  ASSERT_TRUE(!root || ::seteuid(0) == 0);
  EXPECT_MPM_ERROR(StoreWriter{folder_ / "none/a.db"}, "there is no folder");
}

}  // namespace
}  // namespace mpm::monitor::test
