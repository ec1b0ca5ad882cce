// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mpm::monitor {

/// The first line of a file that holds a secret. Throws mpm::Error naming the file, also for one that every user may
/// read.
std::string readSecret(const std::string& path);

}  // namespace mpm::monitor
