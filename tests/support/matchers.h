// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

namespace mpm {

// The matchers that many tests use, by their short names.
using ::testing::AllOf, ::testing::Contains, ::testing::DoubleNear, ::testing::Each, ::testing::ElementsAre,
    ::testing::EndsWith, ::testing::HasSubstr, ::testing::IsEmpty, ::testing::Not, ::testing::Pair, ::testing::SizeIs,
    ::testing::StartsWith;

}  // namespace mpm
