// SPDX-License-Identifier: Apache-2.0
#include "wall_clock.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

namespace {
std::atomic<std::int64_t> shift = 0;
}

// The program's own definition stands before the one of libc, also for Qt and the C++ library.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += shift;
  return result;
}

namespace mpm::gui {

WallClock::WallClock(std::int64_t seconds) { shift = seconds; }
WallClock::~WallClock() { shift = 0; }

}  // namespace mpm::gui
