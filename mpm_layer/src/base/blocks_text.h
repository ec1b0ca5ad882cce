// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpm/options.hpp"

namespace mpm {

/// Blocks with commas between them, strictly increasing; "0-7" is a range. Throws mpm::Error that starts with `what`.
Schedule parseBlocks(const std::string& text, const std::string& what);

/// Throws mpm::Error, which starts with `what`, when the blocks are negative or not strictly increasing.
void requireIncreasing(const Schedule& blocks, const std::string& what);

}  // namespace mpm
