// SPDX-License-Identifier: Apache-2.0
#include "vision/csv.h"

#include <sys/stat.h>

#include <fstream>

#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::vision {
namespace {

using Cells = std::vector<std::string>;

TEST(Csv, LinesOfAnyProgramAreRead) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "a.csv") << "\xef\xbb\xbfname,time\r\n\n# a comment\n \"a, b.jpg\" , 1 \r\nx;y z;\nx\ty";
  const auto lines = readCsv(folder / "a.csv");
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0].cells, (Cells{"name", "time"}));
  EXPECT_TRUE(lines[1].isComment());
  EXPECT_EQ(lines[2].cells, (Cells{"a, b.jpg", "1"}));
  EXPECT_EQ(lines[2].number, 4);
  EXPECT_EQ(lines[3].cells, (Cells{"x", "y z", ""}));
  EXPECT_EQ(lines[4].cells, (Cells{"x", "y"}));
  EXPECT_MPM_ERROR(refuse("a.csv", lines[4], "why"), "'a.csv', line 6: why");
}

TEST(Csv, WhatIsNoRegularFileIsRefused) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  for (const std::string& path : {folder / "fifo", folder / "none", folder.path(), std::string("/dev/zero")})
    EXPECT_MPM_ERROR(readCsv(path), "cannot read '" + path);
}

}  // namespace
}  // namespace mpm::vision
