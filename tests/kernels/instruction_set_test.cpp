// SPDX-License-Identifier: Apache-2.0
#include "kernels/instruction_set.h"

#include "support/throws_with.h"

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
  for (const std::string& part : {std::string("'mmx'"), availableInstructionSets().front()})
    EXPECT_MPM_ERROR(setInstructionSet("mmx"), part);
}

}  // namespace
}  // namespace mpm
