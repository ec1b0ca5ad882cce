// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/architectures.h"

#include <gtest/gtest.h>

namespace mpm::cuda {
namespace {

TEST(CudaArchitectures, MachineCodeRunsOnItsGenerationFromItsNumberOn) {
  EXPECT_TRUE(codeRunsOn("86-real", 8, 6));
  EXPECT_TRUE(codeRunsOn("86-real", 8, 9));
  EXPECT_FALSE(codeRunsOn("86-real", 8, 0));
  EXPECT_FALSE(codeRunsOn("86-real", 9, 0));
}

TEST(CudaArchitectures, PtxRunsOnAllThatCameLater) {
  for (const char* text : {"90", "90-virtual"}) {
    EXPECT_TRUE(codeRunsOn(text, 9, 0)) << text;
    EXPECT_TRUE(codeRunsOn(text, 12, 0)) << text;
    EXPECT_FALSE(codeRunsOn(text, 8, 9)) << text;
  }
}

TEST(CudaArchitectures, AnAIsThatOneAlone) {
  for (const char* text : {"90a", "90a-real"}) {
    EXPECT_TRUE(codeRunsOn(text, 9, 0)) << text;
    EXPECT_FALSE(codeRunsOn(text, 10, 0)) << text;
  }
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
