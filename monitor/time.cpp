// SPDX-License-Identifier: Apache-2.0
#include "monitor/time.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace mpm::monitor {

UnixMs unixNow() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::int64_t steadyNow() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

std::string isoTime(UnixMs time, bool milliseconds) {
  const UnixMs rest = ((time % kSecondMs) + kSecondMs) % kSecondMs;
  const std::time_t second = (time - rest) / kSecondMs;
  std::tm parts{};
  if (!::gmtime_r(&second, &parts)) return "?";
  char text[64];
  text[std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts)] = '\0';
  std::string result = text;
  if (milliseconds) {
    std::snprintf(text, sizeof text, ".%03d", static_cast<int>(rest));
    result += text;
  }
  return result + "Z";
}

std::string fileTime(UnixMs time, bool milliseconds) {
  std::string text = isoTime(time, milliseconds);
  std::replace(text.begin(), text.end(), ':', '-');  // not allowed in names on other systems' disks
  return text;
}

constexpr std::int64_t kRateSpanMs = 5 * kSecondMs;

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
  return std::llabs(by) > tolerance_ms_ ? std::optional(by) : std::nullopt;
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
