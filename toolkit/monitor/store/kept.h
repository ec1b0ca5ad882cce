// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "monitor/store/bucket.h"
#include "monitor/store/sqlite.h"

namespace mpm::monitor {

/// What is stored of a source, by levels: its samples, then the sums of each of kBucketWidths. Retention forgets the
/// oldest of a level; what was summed up of it stays in the next one.
constexpr std::size_t kSampleLevel = 0, kMinuteLevel = 1, kHourLevel = 2, kDayLevel = 3,
                      kLevels = kBucketWidths.size() + 1;

/// For each level, the time from which on nothing of a source was deleted. The day level is never replaced by a coarser
/// one and counts as complete. Samples that arrive late with older times lie before this time; their sums are still
/// counted.
using KeptFrom = std::array<UnixMs, kLevels>;
constexpr UnixMs kNothingForgotten = std::numeric_limits<UnixMs>::min();  ///< of a level

/// What the column `kept_from` says. Whoever forgets something notes it there.
KeptFrom keptFrom(const Database& database, std::int64_t source);

/// Something of this level was forgotten that lies before `end`.
void noteForgotten(Database& database, std::int64_t source, std::size_t level, UnixMs end);
/// Of what this part forgot of the source with this name, only the sums are in the merged database, though another part
/// may have older samples.
void noteForgotten(Database& merged, const Database& part, const std::string& source);

/// Adds the column to a database that lacks it, of an earlier program, and looks for what was forgotten.
void addKeptFrom(Database& database);

}  // namespace mpm::monitor
