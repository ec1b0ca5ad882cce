// SPDX-License-Identifier: Apache-2.0
// One source has one writer: a monitor that is started twice stores nothing twice.
#include <gmock/gmock.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "monitor/samples.h"
#include "monitor/store/database_lock.h"
#include "monitor/store/store.h"
#include "monitor/wait.h"
#include "support/temporary_folder.h"

namespace mpm::monitor::test {
namespace {

using mpm::test::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::SizeIs;

StoreOptions quickRetries() {
  StoreOptions options;
  options.commit_s = options.retry_s = 0.001;
  return options;
}

TEST(DatabaseLockTest, ASecondWriterOfASourceStoresNothingUntilTheFirstEnds) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.db";
  Collected<std::string> reported;
  auto first = std::make_unique<StoreWriter>(path, quickRetries());
  StoreWriter second(path, quickRetries(), [&](const Event& event) { reported.add(event.message); });
  first->beginSession(session());
  first->append(sampleAt(kNoon));
  ASSERT_TRUE(first->flush());
  EXPECT_TRUE(second.isTaken("camera 0"));
  EXPECT_FALSE(second.isTaken("camera 1"));

  second.beginSession(session());
  for (int i = 0; i < 5; ++i) {
    second.append(sampleAt(kNoon + 10 + i));
    ASSERT_TRUE(second.flush());
  }
  EXPECT_TRUE(second.status().taken);
  EXPECT_THAT(second.status().problem, HasSubstr("another program stores 'camera 0'"));
  EXPECT_EQ(second.status().samples, 0);
  ASSERT_THAT(reported.all(), SizeIs(1)) << "reported once";
  EXPECT_EQ(reported.all()[0], second.status().problem);
  EXPECT_THAT(allSamples(StoreReader(path)), SizeIs(1));
  EXPECT_FALSE(StoreReader(path).sessions(1).at(0).ended) << "the first one's session goes on";

  first.reset();
  second.append(sampleAt(kNoon + 1000));
  ASSERT_TRUE(second.flush());
  EXPECT_FALSE(second.status().taken);
  EXPECT_EQ(second.status().problem, "");
  EXPECT_EQ(second.status().samples, 1);
  const auto samples = allSamples(StoreReader(path));
  ASSERT_THAT(samples, SizeIs(2)) << "and none of those before";
  EXPECT_EQ(samples[1].time, kNoon + 1000);
  EXPECT_THAT(StoreReader(path).sessions(1), SizeIs(2));
  EXPECT_THAT(reported.all().back(), HasSubstr("now that the other program has ended"));
}

TEST(DatabaseLockTest, GoesWithTheSession) {
  const TemporaryFolder folder;
  StoreWriter first(folder / "a.db", quickRetries()), second(folder / "a.db", quickRetries());
  first.beginSession(session("a"));
  second.beginSession(session("b"));
  ASSERT_TRUE(first.flush() && second.flush());
  EXPECT_FALSE(first.status().taken || second.status().taken) << "one per source";
  first.beginSession(session("a"));  // another model
  ASSERT_TRUE(first.flush());
  EXPECT_TRUE(second.isTaken("a"));
  first.endSession();
  ASSERT_TRUE(first.flush());
  second.setSource("a");
  ASSERT_TRUE(second.flush());
  EXPECT_FALSE(second.status().taken);
  EXPECT_FALSE(first.isTaken("b"));
}

TEST(DatabaseLockTest, ALinkToTheDatabaseIsTheSameDatabase) {
  const TemporaryFolder folder;
  StoreWriter first(folder / "a.db", quickRetries());
  first.setSource("rtsp://user:secret@camera/1");
  ASSERT_TRUE(first.flush());
  std::filesystem::create_symlink("a.db", folder / "link.db");
  EXPECT_TRUE(DatabaseLock::isTaken(folder / "link.db", "rtsp://***@camera/1"));
  EXPECT_FALSE(DatabaseLock::isTaken(folder / "none.db", "rtsp://***@camera/1"));
}

TEST(DatabaseLockTest, OutlivesWhatHappensToItsFile) {
  namespace fs = std::filesystem;
  const auto deleteTheLock = [](const std::string& path) { fs::remove(path + "-lock"); };
  const auto replaceTheDatabase = [](const std::string& path) {
    fs::create_directory(path + ".old");
    for (const char* ending : {"", "-wal", "-shm", "-lock"})
      if (fs::exists(path + ending)) fs::rename(path + ending, path + ".old/a.db" + ending);
    const StoreWriter seed(path);
  };
  for (const std::function<void(const std::string&)>& trouble : {std::function(deleteTheLock), {replaceTheDatabase}}) {
    const TemporaryFolder folder;
    const std::string path = folder / "a.db";
    StoreWriter first(path, quickRetries());
    first.beginSession(session());
    first.append(sampleAt(kNoon));
    ASSERT_TRUE(first.flush());
    trouble(path);
    first.append(sampleAt(kNoon + 1000));
    ASSERT_TRUE(eventually([&] { return first.flush(); }));

    StoreWriter second(path, quickRetries());
    EXPECT_TRUE(second.isTaken("camera 0"));
    second.beginSession(session());
    second.append(sampleAt(kNoon + 2000));
    ASSERT_TRUE(second.flush());
    EXPECT_TRUE(second.status().taken);
    EXPECT_FALSE(first.status().taken);
    EXPECT_EQ(allSamples(StoreReader(path)).back().time, kNoon + 1000);
    EXPECT_FALSE(StoreReader(path).sessions(1).back().ended) << "the first one's session goes on";
  }
}

TEST(DatabaseLockTest, OneThatLostItsLockToAnotherStoresNothingTwice) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.db";
  StoreWriter first(path, quickRetries());
  first.beginSession(session());
  first.append(sampleAt(kNoon));
  ASSERT_TRUE(first.flush());
  std::filesystem::remove(path + "-lock");
  auto second = std::make_unique<StoreWriter>(path, quickRetries());  // before the first one looks
  second->beginSession(session());
  ASSERT_TRUE(second->flush());
  ASSERT_FALSE(second->status().taken);
  first.append(sampleAt(kNoon + 1000));
  ASSERT_TRUE(first.flush());
  EXPECT_TRUE(first.status().taken);
  EXPECT_THAT(allSamples(StoreReader(path)), SizeIs(1));
  second.reset();
  first.append(sampleAt(kNoon + 2000));
  ASSERT_TRUE(first.flush());
  EXPECT_FALSE(first.status().taken);
  EXPECT_THAT(allSamples(StoreReader(path)), SizeIs(2));
  EXPECT_THAT(StoreReader(path).sessions(1), SizeIs(3));
}

TEST(DatabaseLockTest, DoesNotOutliveAKilledProcess) {
  const TemporaryFolder folder;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::string program = MPM_STORE_VICTIM, database = folder / "a.db", first_number = "0";
  char* arguments[] = {program.data(), database.data(), first_number.data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = 0;
  ASSERT_EQ(::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ), 0);
  ::posix_spawn_file_actions_destroy(&actions);
  std::int64_t committed = 0;
  ASSERT_EQ(::read(ends[0], &committed, sizeof committed), static_cast<ssize_t>(sizeof committed));
  EXPECT_TRUE(DatabaseLock::isTaken(database, session().source));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_FALSE(DatabaseLock::isTaken(database, session().source));
}

}  // namespace
}  // namespace mpm::monitor::test
