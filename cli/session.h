// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json_file.h"

namespace mpm::cli {

/// The CPU as Linux names it; null on an architecture where it has no name there.
Json cpuName();

/// The tools of a measurement by this process: {"session": when it began, "cpu", "instruction_set", "threads",
/// "device", "version", "command"}. Only times of one session can be compared.
Json sessionJson(const std::string& device);

}  // namespace mpm::cli
