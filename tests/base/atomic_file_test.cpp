// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <thread>

#include "support/file_size_limit.h"
#include "support/in_folder.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

using WriteWholeFile = test::InFolder;
using AtomicFileTest = test::InFolder;

std::string bytes(std::size_t count, char fill) { return std::string(count, fill); }

TEST_F(WriteWholeFile, IsKeptFromWhomTheOldFileWasKeptFrom) {
  const auto mode = [&] {
    struct stat file {};
    EXPECT_EQ(::stat((folder_ / "f").c_str(), &file), 0);
    return file.st_mode & 0777;
  };
  writeFileAtomically(folder_ / "f", "a");
  for (const mode_t before : {0600, 0640}) {
    ASSERT_EQ(::chmod((folder_ / "f").c_str(), before), 0);
    writeFileAtomically(folder_ / "f", "b");
    EXPECT_EQ(mode(), before);
  }
  writeFileAtomically(folder_ / "f", "c", false, Readers::kGroup);
  EXPECT_EQ(mode(), 0640u) << "others must not read it any more";
}

TEST_F(WriteWholeFile, KeepsTheOldFileWhenTheNewOneDoesNotFit) {
  writeFileAtomically(folder_ / "f", bytes(10, 'a'));
  {
    const test::FileSizeLimit full(100);
    EXPECT_MPM_ERROR(writeFileAtomically(folder_ / "f", bytes(1000, 'b')), "File too large");
  }
  EXPECT_EQ(readFile(folder_ / "f"), "aaaaaaaaaa");
  EXPECT_EQ(test::filesIn(folder_.path()).size(), 1u);
}

TEST_F(WriteWholeFile, FollowsLinksAndLeavesThem) {
  fs::create_directory(folder_ / "d");
  fs::create_symlink("d/f", folder_ / "link");
  fs::create_symlink(folder_ / "link", folder_ / "link to link");
  for (const char fill : {'a', 'b'}) {  // leading to nothing, then to a file
    writeFileAtomically(folder_ / "link to link", bytes(3, fill));
    EXPECT_EQ(readFile(folder_ / "d/f"), std::string(3, fill));
  }
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link to link"));
  fs::create_symlink("round", folder_ / "round");
  for (const std::string& path : {folder_ / "round", folder_ / "d", std::string()})
    EXPECT_MPM_ERROR(writeFileAtomically(path, bytes(3, 'a')), "cannot write '" + path + "'");
  EXPECT_EQ(test::filesIn(folder_.path()).size(), 4u);
}

TEST_F(WriteWholeFile, WritesIntoWhatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  fs::create_symlink("fifo", folder_ / "link");
  const int reader = ::open((folder_ / "fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  writeFileAtomically(folder_ / "link", bytes(3, 'a'));
  char got[8];
  EXPECT_EQ(::read(reader, got, sizeof got), 3);
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(folder_ / "fifo"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 2);
}

TEST_F(WriteWholeFile, NeverTakesTheFileOfStandardOutputAway) {
  const int ours = ::dup(STDOUT_FILENO);
  const int file = ::open((folder_ / "out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ::dup2(file, STDOUT_FILENO);
  const bool printed = ::write(STDOUT_FILENO, "a", 1) == 1;
  writeFileAtomically("/dev/stdout", bytes(1, 'b'));
  ::dup2(ours, STDOUT_FILENO);
  ::close(ours);
  ::close(file);
  EXPECT_TRUE(printed);
  EXPECT_EQ(readFile(folder_ / "out"), "ab");
}

TEST_F(WriteWholeFile, OfTwoThreadsAtOnceIsThatOfOne) {
  for (int round = 0; round < 20; ++round) {
    const std::string one = bytes(3 << 20, 'a'), other = bytes(1 << 20, 'b');
    const auto write = [&](const std::string& what) { EXPECT_NO_THROW(writeFileAtomically(folder_ / "f", what)); };
    std::thread first(write, std::cref(one)), second(write, std::cref(other));
    first.join();
    second.join();
    const std::string got = readFile(folder_ / "f");
    ASSERT_TRUE(got == one || got == other) << got.size() << " bytes";
  }
  EXPECT_EQ(test::filesIn(folder_.path()).size(), 1u);
}

TEST_F(AtomicFileTest, TakesNoNameThatIsTaken) {
  const std::string taken = AtomicFile(folder_ / "f").place();
  const auto counted = taken.find_last_of('.') + 1;
  const int next = std::stoi(taken.substr(counted)) + 1;
  const std::string left_over = taken.substr(0, counted) + std::to_string(next);
  std::ofstream(left_over) << "another's";
  writeFileAtomically(folder_ / "f", bytes(3, 'a'));
  EXPECT_EQ(readFile(folder_ / "f"), "aaa");
  EXPECT_EQ(readFile(left_over), "another's");
}

TEST_F(AtomicFileTest, OthersMayNotReadWhatIsForTheGroup) {
  const auto mode = [&](mode_t mask, Readers readers) {
    const mode_t before = ::umask(mask);
    writeFileAtomically(folder_ / "f", "x", false, readers);
    ::umask(before);
    return static_cast<int>(std::filesystem::status(folder_ / "f").permissions());
  };
  EXPECT_EQ(mode(0, Readers::kByUmask), 0666);
  EXPECT_EQ(mode(0, Readers::kGroup), 0640) << "also in place of one that they may read";
  EXPECT_EQ(mode(0077, Readers::kGroup), 0600);
}

TEST_F(AtomicFileTest, WithoutAnEndNothingHasHappened) {
  writeFileAtomically(folder_ / "f", bytes(3, 'a'));
  {
    const AtomicFile file(folder_ / "f");
    std::ofstream(file.place()) << "half of";
  }
  EXPECT_EQ(readFile(folder_ / "f"), "aaa");
  EXPECT_EQ(test::filesIn(folder_.path()).size(), 1u);
  EXPECT_MPM_ERROR(AtomicFile(folder_ / "none/f"), "No such file");
}

}  // namespace
}  // namespace mpm
