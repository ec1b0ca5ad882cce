// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

namespace mpm {

/// The quantile of values, each with the number of times that it occurs.
inline double quantile(const std::map<double, std::int64_t>& occurrences, double p) {
  std::int64_t total = 0;
  for (const auto& [value, count] : occurrences) total += count;
  if (total == 0) return std::nan("");
  const auto sorted = [&](std::int64_t rank) {
    auto at = occurrences.begin();
    for (; rank >= at->second; ++at) rank -= at->second;
    return at->first;
  };
  const double position = p * static_cast<double>(total - 1);
  const auto below = static_cast<std::int64_t>(position);
  const double low = sorted(below), high = sorted(std::min(below + 1, total - 1));
  return low + (position - static_cast<double>(below)) * (high - low);
}

/// Quantile `p` (0..1) of the values, interpolated linearly between the sorted values as numpy does. NaN without
/// values.
inline double quantile(const std::vector<double>& values, double p) {
  std::map<double, std::int64_t> occurrences;
  for (const double value : values) ++occurrences[value];
  return quantile(occurrences, p);
}

/// Whether item `index` of `total` is one of `wanted` that are spread evenly.
constexpr bool isInSpread(int index, int total, int wanted) {
  return wanted >= total ||
         static_cast<std::int64_t>(index + 1) * wanted / total > static_cast<std::int64_t>(index) * wanted / total;
}

}  // namespace mpm
