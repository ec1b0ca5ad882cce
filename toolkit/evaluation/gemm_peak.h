// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpm/options.hpp"

namespace mpm::evaluation {

/// Peak speed of this machine's GEMM library on all of OpenCV's threads, FLOP/s: the best of several runs on tiles that
/// fit a core's cache. Takes about `seconds`.
double gemmPeak(Precision precision, double seconds);

}  // namespace mpm::evaluation
