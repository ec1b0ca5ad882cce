// SPDX-License-Identifier: Apache-2.0
// Lists that any program wrote, and the digest of the files of a model.
#include <sys/stat.h>

#include "support/in_folder.h"
#include "support/throws_with.h"
#include "vision/csv.h"
#include "vision/model_files.h"

namespace mpm::vision {
namespace {

using Cells = std::vector<std::string>;
using Csv = test::InFolder;

TEST_F(Csv, LinesOfAnyProgramAreRead) {
  std::ofstream(folder_ / "a.csv") << "\xef\xbb\xbfname,time\r\n\n# a comment\n \"a, b.jpg\" , 1 \r\nx;y z;";
  const auto lines = readCsv(folder_ / "a.csv");
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].cells, (Cells{"name", "time"}));
  EXPECT_TRUE(lines[1].isComment());
  EXPECT_EQ(lines[2].cells, (Cells{"a, b.jpg", "1"}));
  EXPECT_EQ(lines[2].number, 4);
  EXPECT_EQ(lines[3].cells, (Cells{"x;y z;"})) << "the first line has commas";
  std::ofstream(folder_ / "b.csv") << "# a, comment\n\"a, b.jpg\"; c\nd, e.jpg;f";
  EXPECT_EQ(readCsv(folder_ / "b.csv")[1].cells, (Cells{"a, b.jpg", "c"}));
  EXPECT_EQ(readCsv(folder_ / "b.csv")[2].cells, (Cells{"d, e.jpg", "f"}));
  std::ofstream(folder_ / "c.csv") << "alone\nx\ty";
  EXPECT_EQ(readCsv(folder_ / "c.csv")[1].cells, (Cells{"x", "y"}));
  std::ofstream(folder_ / "d.csv") << "\"5\"\" pipe, left.png\" ,a \"so\" b\n5\" pipe.png,\" c;\"\n";
  const auto quotes = readCsv(folder_ / "d.csv");
  EXPECT_EQ(quotes[0].cells, (Cells{"5\" pipe, left.png", "a \"so\" b"}));
  EXPECT_EQ(quotes[1].cells, (Cells{"5\" pipe.png", " c;"})) << "a quote inside a cell is a letter";
  std::ofstream(folder_ / "e.csv") << "\"a;b\";\"c,d\"\n" << csvCell("x, \"y\"") << ";z\n\"open;1";
  EXPECT_EQ(readCsv(folder_ / "e.csv")[0].cells, (Cells{"a;b", "c,d"}));
  EXPECT_EQ(readCsv(folder_ / "e.csv")[1].cells, (Cells{"x, \"y\"", "z"}));
  EXPECT_EQ(readCsv(folder_ / "e.csv")[2].cells, (Cells{"\"open", "1"})) << "nothing ends the quote";
  EXPECT_MPM_ERROR(refuse("a.csv", lines[3], "why"), "'a.csv', line 5: why");
}

TEST_F(Csv, WhatIsNoRegularFileIsRefused) {
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  for (const std::string& path : {folder_ / "fifo", folder_ / "none", folder_.path(), std::string("/dev/zero")})
    EXPECT_MPM_ERROR(readCsv(path), "cannot read '" + path);
}

using ModelDigest = test::InFolder;

TEST_F(ModelDigest, IsAboutTheBytesOfTheModelAndItsFacts) {
  const std::string model = std::string(MPM_TEST_DATA_DIR) + "/segmenter_mask_ts17.onnx", copy = folder_ / "vit.onnx";
  const std::string digest = modelDigest(model);
  EXPECT_THAT(digest, ::testing::MatchesRegex("[0-9a-f]{16}"));
  fs::copy_file(model, copy);
  EXPECT_EQ(modelDigest(copy), digest) << "not about their name";
  std::ofstream(folder_ / "vit.json") << R"({"mean": [0.5, 0.5, 0.5]})";
  const std::string half = modelDigest(copy);
  EXPECT_NE(half, digest);
  std::ofstream(folder_ / "vit.json") << R"({"mean": [0.4, 0.5, 0.5]})";
  EXPECT_NE(modelDigest(copy), half);
  fs::remove(folder_ / "vit.json");
  std::fstream file(copy, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(fs::file_size(copy) / 2));
  file.put('\xa5');
  file.close();
  EXPECT_NE(modelDigest(copy), digest);
  EXPECT_MPM_ERROR(modelDigest("no such.onnx"), "no such.onnx");
}

}  // namespace
}  // namespace mpm::vision
