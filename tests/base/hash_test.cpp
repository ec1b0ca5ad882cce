// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <gmock/gmock.h>

#include <array>
#include <string>

namespace mpm {
namespace {

// Values of another implementation (Python). Another hash would give another machine other parts of a folder.
TEST(HashBytes, IsTheSameOnEveryMachine) {
  EXPECT_EQ(mix(0), 0xe220a8397b1dcdafu);
  EXPECT_EQ(hashBytes(""), 0xa706dd2f4d197e6fu);
  EXPECT_EQ(hashBytes("street_01.png"), 0x9c8e63c97a59618bu);
  EXPECT_EQ(hashBytes("\xc3\xa9"), 0x13b89305d28b3111u);
}

TEST(HashBytes, SpreadsNumberedNamesEvenly) {
  std::array<int, 8> parts{};
  for (int i = 0; i < 8000; ++i) ++parts[hashBytes("frame_" + std::to_string(i) + ".png") % parts.size()];
  EXPECT_THAT(parts, ::testing::Each(::testing::AllOf(::testing::Gt(850), ::testing::Lt(1150))));
}

TEST(HashBytes, DependsOnWhatComesBefore) {
  EXPECT_NE(hashBytes("b", hashBytes("a")), hashBytes("a", hashBytes("b")));
  EXPECT_NE(hashBytes({"\0", 1}), hashBytes({"\0\0", 2}));
}

}  // namespace
}  // namespace mpm
