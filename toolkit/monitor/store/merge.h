// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "monitor/store/sqlite.h"

namespace mpm::monitor {

/// Makes the database `into` of all that these hold: sources of one name become one. For the parts of an archive
/// (--shard). Throws mpm::Error naming a file: `into` exists, one of `parts` is no database of ours, or two of them
/// hold the same picture.
void mergeDatabases(const std::vector<std::string>& parts, const std::string& into);

/// Takes the samples of the database `fresh`, of archives that were measured again, in place of those of the same
/// pictures and times; sessions that have no sample left go. Pictures that `fresh` lacks keep their samples. All of it
/// or, where it throws mpm::Error, nothing.
void replaceSamples(Database& database, const std::string& fresh);

}  // namespace mpm::monitor
