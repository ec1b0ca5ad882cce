// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace mpm {

/// Quantile `p` (0..1) of the values, interpolated linearly between the sorted values as numpy does. NaN of no values.
double quantile(const std::vector<double>& values, double p);
/// The same of values that repeat: each with how often it occurs.
double quantile(const std::map<double, std::int64_t>& occurrences, double p);

}  // namespace mpm
