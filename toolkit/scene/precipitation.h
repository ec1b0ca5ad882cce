// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "canvas.h"

namespace mpm::scene {

/// Rain streaks or snow flakes between the camera and the street.
void drawPrecipitation(const Picture& picture, std::uint64_t seed, double unix_time);

}  // namespace mpm::scene
