// SPDX-License-Identifier: Apache-2.0
#include "pipeline/whole_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <vector>

#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<unsigned char> bytes(std::size_t count, char fill) { return std::vector<unsigned char>(count, fill); }

TEST(WriteWholeFile, ReplacesWhatWasThere) {
  const test::TemporaryFolder folder;
  writeWholeFile(folder / "f", bytes(10, 'a'));
  writeWholeFile(folder / "f", bytes(3, 'b'));
  EXPECT_EQ(contents(folder / "f"), "bbb");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WriteWholeFile, KeepsTheOldFileWhenTheNewOneDoesNotFit) {
  const test::TemporaryFolder folder;
  writeWholeFile(folder / "f", bytes(10, 'a'));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tiny{100, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tiny);
  EXPECT_MPM_ERROR(writeWholeFile(folder / "f", bytes(1000, 'b')), "File too large");
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(contents(folder / "f"), "aaaaaaaaaa");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WriteWholeFile, NeverReplacesAFolder) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "d");
  EXPECT_MPM_ERROR(writeWholeFile(folder / "d", bytes(3, 'a')), "cannot write");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

}  // namespace
}  // namespace mpm
