// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/architectures.h"

#include <gtest/gtest.h>

namespace mpm::cuda {
namespace {

TEST(CudaArchitectures, CodeRunsFromItsNumberOn) {
  const struct {
    const char* code;
    int major, minor;
    bool runs;
  } cases[] = {// Machine code: in its generation. PTX: on all that came later. An a: on that one alone.
               {"86-real", 8, 6, true},     {"86-real", 8, 9, true},    {"86-real", 8, 0, false},
               {"86-real", 9, 0, false},    {"90", 9, 0, true},         {"90", 12, 0, true},
               {"90", 8, 9, false},         {"90-virtual", 9, 0, true}, {"90-virtual", 12, 0, true},
               {"90-virtual", 8, 9, false}, {"90a", 9, 0, true},        {"90a", 10, 0, false},
               {"90a-real", 9, 0, true},    {"90a-real", 10, 0, false}};
  for (const auto& [code, major, minor, runs] : cases)
    EXPECT_EQ(codeRunsOn(code, major, minor), runs) << code << " on " << major << "." << minor;
}

TEST(CudaArchitectures, TheDefaultRunsFromTuringOn) {
  const char* const list = "75-real,80-real,86-real,89,90a-real";
  for (const auto& [major, minor] : {std::pair(7, 5), {8, 0}, {8, 7}, {9, 0}, {10, 0}, {12, 1}})
    EXPECT_TRUE(anyCodeRunsOn(list, major, minor)) << major << "." << minor;
  EXPECT_FALSE(anyCodeRunsOn(list, 7, 0));
  EXPECT_FALSE(anyCodeRunsOn(list, 6, 1));
  EXPECT_TRUE(anyCodeRunsOn("native", 6, 1));
}

}  // namespace
}  // namespace mpm::cuda
