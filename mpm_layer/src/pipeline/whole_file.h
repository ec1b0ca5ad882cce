// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

namespace mpm {

/// Writes `bytes` beside `path` under a temporary name and renames it: `path` holds all of them or is as it was before.
/// Throws mpm::Error naming `path` and the cause (a full disk, no permission), and leaves nothing behind.
void writeWholeFile(const std::string& path, std::span<const unsigned char> bytes);

}  // namespace mpm
