// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace mpm {

/// Quantile `p` (0..1) of the values, interpolated linearly between the sorted values as numpy does. NaN without
/// values.
double quantile(const std::vector<double>& values, double p);
/// The quantile of values, each with the number of times that it occurs.
double quantile(const std::map<double, std::int64_t>& occurrences, double p);

}  // namespace mpm
