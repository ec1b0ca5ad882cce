// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace mpm::monitor {

/// For people, how long ago something was: "2 days ago", "119 minutes ago", "45 s ago"; "in the future" below 0.
std::string ageText(std::int64_t ms);

}  // namespace mpm::monitor
