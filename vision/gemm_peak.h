// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpm/options.hpp"

namespace mpm::vision {

/// What this machine's GEMM library reaches on all of OpenCV's threads, FLOP/s: the best of several runs of about
/// `seconds` in all, over tiles that stay in a core's cache.
double gemmPeak(Precision precision, double seconds);

}  // namespace mpm::vision
