// SPDX-License-Identifier: Apache-2.0
#pragma once

// OpenCV's own build has the module ts, an installed OpenCV has not.
#if __has_include("opencv2/ts.hpp")
#include "opencv2/ts.hpp"
#else
#include <gtest/gtest.h>
#define CV_TEST_MAIN(name)                  \
  int main(int argc, char** argv) {         \
    ::testing::InitGoogleTest(&argc, argv); \
    return RUN_ALL_TESTS();                 \
  }
#endif
#include "opencv2/mpm.hpp"
