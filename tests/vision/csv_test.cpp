// SPDX-License-Identifier: Apache-2.0
#include "vision/csv.h"

#include <sys/stat.h>

#include "support/in_folder.h"
#include "support/throws_with.h"

namespace mpm::vision {
namespace {

using Cells = std::vector<std::string>;
using Csv = test::InFolder;

TEST_F(Csv, LinesOfAnyProgramAreRead) {
  std::ofstream(folder_ / "a.csv") << "\xef\xbb\xbfname,time\r\n\n# a comment\n \"a, b.jpg\" , 1 \r\nx;y z;\nx\ty";
  const auto lines = readCsv(folder_ / "a.csv");
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0].cells, (Cells{"name", "time"}));
  EXPECT_TRUE(lines[1].isComment());
  EXPECT_EQ(lines[2].cells, (Cells{"a, b.jpg", "1"}));
  EXPECT_EQ(lines[2].number, 4);
  EXPECT_EQ(lines[3].cells, (Cells{"x", "y z", ""}));
  EXPECT_EQ(lines[4].cells, (Cells{"x", "y"}));
  EXPECT_MPM_ERROR(refuse("a.csv", lines[4], "why"), "'a.csv', line 6: why");
}

TEST_F(Csv, WhatIsNoRegularFileIsRefused) {
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  for (const std::string& path : {folder_ / "fifo", folder_ / "none", folder_.path(), std::string("/dev/zero")})
    EXPECT_MPM_ERROR(readCsv(path), "cannot read '" + path);
}

}  // namespace
}  // namespace mpm::vision
