// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpm/source.hpp"
#include "output.h"

namespace mpm::cli {

/// Adds "time" (ISO 8601, UTC), "film", "night" and "sun_elevation" (degrees) of the frame, those that its source
/// knows.
void addMoment(const Frame& frame, Json& json);

}  // namespace mpm::cli
