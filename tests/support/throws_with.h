// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpm/error.hpp"
#include "support/matchers.h"

/// `statement` throws mpm::Error with one line of at most 300 characters that contains `part`.
#define EXPECT_MPM_ERROR(statement, part)                                                                             \
  EXPECT_THAT([&] { (void)(statement); }, (::testing::ThrowsMessage<mpm::Error>(::testing::AllOf(                     \
                                              ::testing::HasSubstr(part), ::testing::Not(::testing::HasSubstr("\n")), \
                                              ::testing::SizeIs(::testing::Le(std::size_t{300}))))))

/// `statement` throws cv::Exception whose text contains `text`.
#define EXPECT_CV_ERROR(statement, text) \
  EXPECT_THAT([&] { (void)(statement); }, ::testing::ThrowsMessage<cv::Exception>(::testing::HasSubstr(text)))
