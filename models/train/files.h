// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace mpm::train {

/// Writes `parts`, one after the other, under a temporary name, flushes them to the disk and renames: `path` is whole
/// or as it was, also after a kill or a power cut. Throws mpm::Error naming the cause.
void writeFile(const std::string& path, std::initializer_list<std::string_view> parts);

/// Throws mpm::Error when it cannot be read.
std::string readFile(const std::string& path);

}  // namespace mpm::train
