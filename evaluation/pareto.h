// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace mpm::cli {

struct TradePoint {
  double cost = 0, value = 0;
};

/// For each point whether no other one beats it: costs at most as much, is worth at least as much, and is not equal in
/// both. A point with NaN is never on the front.
std::vector<bool> paretoFront(const std::vector<TradePoint>& points);

}  // namespace mpm::cli
