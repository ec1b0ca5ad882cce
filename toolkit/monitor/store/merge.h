// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace mpm::monitor {

/// Makes the database `into` of all that these hold: sources of one name become one. The latest series of a camera is
/// that of its latest sample; of an archive (--shard) it is the one that most parts have as their latest, whatever the
/// order of the parts. Throws mpm::Error naming a file: `into` exists, one of `parts` is no database of ours, or two of
/// them hold the same picture.
void mergeDatabases(const std::vector<std::string>& parts, const std::string& into);

}  // namespace mpm::monitor
