// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vision/random.h"

namespace mpm::scene {

using mpm::hash;
using mpm::mix;
using vision::Draws;
using vision::normalQuantiles;
using vision::poisson;
using vision::unit;

}  // namespace mpm::scene
