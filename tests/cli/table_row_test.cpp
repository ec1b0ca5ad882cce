// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>

#include "program/terminal/output.h"

namespace mpm::test {
namespace {

using program::tableRow;

TEST(TableRow, CellsThatAreTooWideDoNotTouchTheOneBefore) {
  EXPECT_EQ(tableRow({"name", "1", "2"}, {-6, 4, 4}), "name     1   2");
  EXPECT_EQ(tableRow({"none", "56.52", "43.48 (-50.91 to 134.74)"}, {-6, 6, 9}),
            "none   56.52 43.48 (-50.91 to 134.74)");
  EXPECT_EQ(tableRow({"a long name", "1234"}, {-6, 4}), "a long name 1234");
}

TEST(TokensText, SaysHowManyFewer) {
  EXPECT_EQ(program::tokensText({60}), "60");
  EXPECT_EQ(program::tokensText({60, 45, 30}), "60 -> 45 -> 30 (-50 %)");
  EXPECT_EQ(program::tokensText({60, 60}), "60 -> 60 (0 %)");
}

// While another thread decodes a picture, `stderr` leads nowhere (read_picture.cpp).
TEST(StatusLine, IsDrawnWhileAPictureIsDecoded) {
  ::testing::internal::CaptureStderr();
  std::FILE* const before = stderr;
  stderr = std::fopen("/dev/null", "we");
  program::drawText("Live");
  std::fclose(stderr);
  stderr = before;
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "Live");
}

}  // namespace
}  // namespace mpm::test
