// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string bytes(std::size_t count, char fill) { return std::string(count, fill); }

TEST(WriteWholeFile, ReplacesWhatWasThere) {
  const test::TemporaryFolder folder;
  writeFileAtomically(folder / "f", bytes(10, 'a'));
  writeFileAtomically(folder / "f", bytes(3, 'b'));
  EXPECT_EQ(contents(folder / "f"), "bbb");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WriteWholeFile, KeepsTheOldFileWhenTheNewOneDoesNotFit) {
  const test::TemporaryFolder folder;
  writeFileAtomically(folder / "f", bytes(10, 'a'));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tiny{100, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tiny);
  EXPECT_MPM_ERROR(writeFileAtomically(folder / "f", bytes(1000, 'b')), "File too large");
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(contents(folder / "f"), "aaaaaaaaaa");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WriteWholeFile, NeverReplacesAFolder) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "d");
  EXPECT_MPM_ERROR(writeFileAtomically(folder / "d", bytes(3, 'a')), "cannot write");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WriteWholeFile, FollowsLinksAndLeavesThem) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "d");
  std::filesystem::create_symlink("d/f", folder / "link");
  std::filesystem::create_symlink(folder / "link", folder / "link to link");
  for (const char fill : {'a', 'b'}) {  // leading to nothing, then to a file
    writeFileAtomically(folder / "link to link", bytes(3, fill));
    EXPECT_EQ(contents(folder / "d/f"), std::string(3, fill));
  }
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link to link"));
  std::filesystem::create_symlink("round", folder / "round");
  EXPECT_MPM_ERROR(writeFileAtomically(folder / "round", bytes(3, 'a')), "cannot write");
}

TEST(WriteWholeFile, WritesIntoWhatIsNoRegularFile) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  std::filesystem::create_symlink("fifo", folder / "link");
  const int reader = ::open((folder / "fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  writeFileAtomically(folder / "link", bytes(3, 'a'));
  char got[8];
  EXPECT_EQ(::read(reader, got, sizeof got), 3);
  ::close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "fifo"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);
}

TEST(WriteWholeFile, NeverTakesTheFileOfStandardOutputAway) {
  const test::TemporaryFolder folder;
  const int ours = ::dup(STDOUT_FILENO);
  const int file = ::open((folder / "out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ::dup2(file, STDOUT_FILENO);
  const bool printed = ::write(STDOUT_FILENO, "a", 1) == 1;
  writeFileAtomically("/dev/stdout", bytes(1, 'b'));
  ::dup2(ours, STDOUT_FILENO);
  ::close(ours);
  ::close(file);
  EXPECT_TRUE(printed);
  EXPECT_EQ(contents(folder / "out"), "ab");
}

TEST(WriteWholeFile, OfTwoThreadsAtOnceIsThatOfOne) {
  const test::TemporaryFolder folder;
  for (int round = 0; round < 20; ++round) {
    const std::string one = bytes(3 << 20, 'a'), other = bytes(1 << 20, 'b');
    const auto write = [&](const std::string& what) { EXPECT_NO_THROW(writeFileAtomically(folder / "f", what)); };
    std::thread first(write, std::cref(one)), second(write, std::cref(other));
    first.join();
    second.join();
    const std::string got = contents(folder / "f");
    ASSERT_TRUE(got == one || got == other) << got.size() << " bytes";
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(AtomicFile, TakesNoNameThatIsTaken) {
  const test::TemporaryFolder folder;
  const std::string taken = AtomicFile(folder / "f").place();
  const auto counted = taken.find_last_of('.') + 1;
  const int next = std::stoi(taken.substr(counted)) + 1;
  const std::string left_over = taken.substr(0, counted) + std::to_string(next);
  std::ofstream(left_over) << "another's";
  writeFileAtomically(folder / "f", bytes(3, 'a'));
  EXPECT_EQ(contents(folder / "f"), "aaa");
  EXPECT_EQ(contents(left_over), "another's");
}

TEST(AtomicFile, WithoutAnEndNothingHasHappened) {
  const test::TemporaryFolder folder;
  writeFileAtomically(folder / "f", bytes(3, 'a'));
  {
    const AtomicFile file(folder / "f");
    std::ofstream(file.place()) << "half of";
  }
  EXPECT_EQ(contents(folder / "f"), "aaa");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  EXPECT_MPM_ERROR(AtomicFile(folder / "none/f"), "No such file");
}

}  // namespace
}  // namespace mpm
