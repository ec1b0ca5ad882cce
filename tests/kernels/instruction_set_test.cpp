// SPDX-License-Identifier: Apache-2.0
#include "kernels/instruction_set.h"

#include <gmock/gmock.h>

#include "mpm/error.hpp"

namespace mpm {
namespace {

TEST(InstructionSet, ForcedOneIsInUseAndTheListStays) {
  const std::vector<std::string> all = availableInstructionSets();
  ASSERT_FALSE(all.empty());
  for (const std::string& name : all) {
    setInstructionSet(name);
    EXPECT_EQ(instructionSet(), name);
    EXPECT_EQ(availableInstructionSets(), all);
  }
  setInstructionSet(all.front());
}

TEST(InstructionSet, UnknownNameIsAnErrorThatListsTheKnown) {
  try {
    setInstructionSet("mmx");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("'mmx'"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr(availableInstructionSets().front()));
  }
}

}  // namespace
}  // namespace mpm
