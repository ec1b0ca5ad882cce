// SPDX-License-Identifier: Apache-2.0
#include "net/windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mpm {
namespace {

using ::testing::ElementsAre;

// The labels of windows: labels_test.cpp.
TEST(WindowStarts, CoverTheLengthAndEndFlush) {
  EXPECT_THAT(windowStarts(512, 512, 480), ElementsAre(0));
  EXPECT_THAT(windowStarts(513, 512, 480), ElementsAre(0, 1));
  EXPECT_THAT(windowStarts(992, 512, 480), ElementsAre(0, 480));
  EXPECT_THAT(windowStarts(1000, 512, 480), ElementsAre(0, 480, 488));
}

}  // namespace
}  // namespace mpm
