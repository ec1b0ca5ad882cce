// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/terminal/output.h"
#include "vision/source.h"

namespace mpm::cli {

/// Adds "time" (ISO 8601, UTC), "film", "night" and "sun_elevation" (degrees) of the frame, those that its source
/// knows.
void addMoment(const vision::Frame& frame, Json& json);

}  // namespace mpm::cli
