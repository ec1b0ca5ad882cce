// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace mpm {

/// Wall time: milliseconds since 1970-01-01 00:00 UTC. Everything that is stored carries it.
using UnixMs = std::int64_t;
inline constexpr UnixMs kSecondMs = 1000, kMinuteMs = 60 * kSecondMs, kHourMs = 60 * kMinuteMs, kDayMs = 24 * kHourMs;

UnixMs unixNow();

/// ms of a clock that never jumps; only differences mean something.
std::int64_t steadyNow();

/// "2026-11-03T17:04:05Z", to the second; `milliseconds`: "2026-11-03T17:04:05.250Z".
std::string isoTime(UnixMs time, bool milliseconds = false);
/// A time for file names: "2026-11-03T17-04-05Z".
std::string fileTime(UnixMs time, bool milliseconds = false);
}  // namespace mpm
