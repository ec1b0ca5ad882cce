// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include "mpm/error.hpp"

/// `statement` throws mpm::Error with one line that contains `part`.
#define EXPECT_MPM_ERROR(statement, part)            \
  EXPECT_THAT([&] { (void)(statement); },            \
              (::testing::ThrowsMessage<mpm::Error>( \
                  ::testing::AllOf(::testing::HasSubstr(part), ::testing::Not(::testing::HasSubstr("\n"))))))
