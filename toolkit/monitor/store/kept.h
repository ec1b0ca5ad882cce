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

/// From when on nothing of a source was forgotten, by level; the last level has none that could stand for it, and
/// counts as whole. A clock that is wrong may bring samples of older times later: they lie before it, and their sums
/// count.
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
