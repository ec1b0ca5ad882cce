// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace mpm::test
