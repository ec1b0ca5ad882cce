// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "monitor/store/bucket.h"
#include "monitor/store/sqlite.h"

namespace mpm::monitor {

/// What is stored of a source, by levels: its samples, then the sums of each of kBucketWidths. Retention forgets the
/// oldest of a level; what was summed up of it stays in the next one.
constexpr std::size_t kSampleLevel = 0, kLevels = kBucketWidths.size() + 1;

/// From when on nothing of a source was forgotten, by level; the lowest time: nothing ever was.
using KeptFrom = std::array<UnixMs, kLevels>;

/// Looks at the ends of the levels. In a merged database a part that forgot may lie behind one that did not: the column
/// `merged_from` has what the parts said.
KeptFrom keptFrom(const Database& database, std::int64_t source);

/// Of a source of a merged database, what its parts said.
KeptFrom mergedFrom(const Database& database, std::int64_t source);
/// Of what this part forgot of the source with this name, only the sums are in the merged database, though another part
/// may have older samples.
void noteForgotten(Database& merged, const Database& part, const std::string& source);

}  // namespace mpm::monitor
