// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "kernels/instruction_set.h"

namespace mpm::test {

/// A test that runs once per instruction set of this machine, forced by name.
class EachInstructionSet : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { setInstructionSet(GetParam()); }
  void TearDown() override { setInstructionSet(availableInstructionSets().front()); }
};

}  // namespace mpm::test

#define MPM_EACH_INSTRUCTION_SET(suite)                                                   \
  INSTANTIATE_TEST_SUITE_P(, suite, ::testing::ValuesIn(mpm::availableInstructionSets()), \
                           [](const ::testing::TestParamInfo<std::string>& set) { return set.param; })
