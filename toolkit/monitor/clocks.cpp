// SPDX-License-Identifier: Apache-2.0
#include "monitor/clocks.h"

#include <algorithm>

namespace mpm::monitor {

constexpr std::int64_t kRateSpanMs = 5 * kSecondMs, kJumpMs = 2 * kSecondMs;

void Rate::add(std::int64_t steady) {
  times_.push_back(steady);
  while (times_.front() < steady - kRateSpanMs) times_.pop_front();
}

double Rate::perSecond(std::int64_t steady) const {
  const auto recent = std::lower_bound(times_.begin(), times_.end(), steady - kRateSpanMs);
  const auto count = times_.end() - recent;
  if (count < 2 || times_.back() == *recent) return 0;
  return static_cast<double>(count - 1) * kSecondMs / static_cast<double>(times_.back() - *recent);
}

std::optional<std::int64_t> ClockWatch::jump(UnixMs wall, std::int64_t steady) {
  const std::int64_t offset = wall - steady;
  const std::int64_t by = offset_ ? offset - *offset_ : 0;
  offset_ = offset;  // also after a small step, so that slow corrections never add up to a jump
  return std::llabs(by) > kJumpMs ? std::optional(by) : std::nullopt;
}

bool SettledClock::believes(UnixMs wall, std::int64_t steady) {
  if (!believed_) believed_ = wall;
  if (!believed_at_) believed_at_ = steady;
  if (wall - *believed_ - (steady - *believed_at_) > kDayMs) {
    if (!doubted_since_) doubted_since_ = steady;
    if (steady - *doubted_since_ < kHourMs) return false;
  }
  doubted_since_.reset();
  believed_ = wall;
  believed_at_ = steady;
  return true;
}

}  // namespace mpm::monitor
