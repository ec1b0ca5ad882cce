// SPDX-License-Identifier: Apache-2.0
// The emulation of AMX itself: what it must refuse. That its products are right, tests/worlds/kernels shows.
#include "kernels/emulated_amx.h"

#include <gtest/gtest.h>

#if defined(__x86_64__)
namespace mpm {
namespace {

using test::EmulatedAmx;

AmxConfiguration sizes(std::initializer_list<std::pair<int, int>> tiles) {
  AmxConfiguration configuration;
  int next = 0;
  for (const auto& [rows, bytes] : tiles) {
    configuration.rows[next] = static_cast<std::uint8_t>(rows);
    configuration.row_bytes[next++] = static_cast<std::uint16_t>(bytes);
  }
  return configuration;
}

TEST(EmulatedAmxTest, RefusesWhatTheCpuRefuses) {
  EmulatedAmx::release();
  EXPECT_THROW(EmulatedAmx::zero<0>(), std::logic_error);
  EXPECT_THROW(EmulatedAmx::configure(sizes({{17, 64}})), std::logic_error);
  EmulatedAmx::configure(sizes({{16, 64}, {16, 32}, {16, 64}}));
  EXPECT_THROW((EmulatedAmx::multiplyInt8<0, 1, 2>()), std::logic_error) << "8 words of x, 16 of w";
  EXPECT_THROW(EmulatedAmx::zero<3>(), std::logic_error);
  EmulatedAmx::release();
}

}  // namespace
}  // namespace mpm
#endif
