// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>

#include "monitor/store/sqlite.h"
#include "vision/time.h"

namespace mpm::monitor {

/// The time of a picture is one fact. Where the latest series of an archive has another time for a picture than earlier
/// series, because its clock or its list was corrected, their samples of this picture get that time. Night is judged
/// again by rules that look at the time. If all their pictures were measured again, what was reported of pictures
/// before the latest series began goes, because this series has reported it anew. Returns the starts of the days, in
/// UTC, whose sums and changes of state are to be made anew; empty: all times were right.
std::set<UnixMs> takeCorrectedTimes(Database& database, std::int64_t source);

}  // namespace mpm::monitor
