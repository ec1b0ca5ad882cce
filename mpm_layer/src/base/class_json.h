// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/json_file.h"
#include "mpm/model_info.hpp"

namespace mpm {

/// [{"name", "color": "#rrggbb", "thing": false}]: a colour where it is known, "thing" where it is false.
Json toJson(const std::vector<ClassInfo>& classes);
/// Back from it. Throws mpm::Error naming the place.
std::vector<ClassInfo> classesFromJson(const JsonValue& list);

}  // namespace mpm
