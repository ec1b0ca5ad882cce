// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vision/random.h"

namespace mpm::scene {

using vision::Draws;
using vision::hash;
using vision::mix;
using vision::normalQuantiles;
using vision::poisson;
using vision::unit;

}  // namespace mpm::scene
