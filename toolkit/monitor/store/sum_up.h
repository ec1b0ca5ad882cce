// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "monitor/statistics/day_night.h"
#include "monitor/store/sqlite.h"

namespace mpm::monitor {

/// Makes the sums of a source anew from its samples. Sums of which samples were forgotten stay as they are.
void sumUp(Database& database, std::int64_t source);

/// As StoreWriter::judge(), in the transaction of the caller. False: `progress` said so, and the caller rolls back.
bool judge(Database& database, std::int64_t source, const NightRule& rule,
           const std::function<bool(double share)>& progress);

/// What settle() has to do, bits of the column `unsettled` of a source.
enum Unsettled {
  kOlderCame = 1,      ///< pictures came that are older than others of their series
  kMeasuredAgain = 2,  ///< pictures came of which an earlier series may have samples of another time
};

/// As StoreWriter::settle(), in the transaction of the caller. `state_after` nullopt: states stay as they are.
void settle(Database& database, std::int64_t source, std::optional<int> state_after);

/// Makes the changes of state of several databases, which are in this one now, those of one. The pictures of an archive
/// that follow each other may be of two of them, so that only those without a state say that none counts there.
void joinStates(Database& database, std::int64_t source);

}  // namespace mpm::monitor
