// SPDX-License-Identifier: Apache-2.0
#include "evaluation/pareto.h"

#include <algorithm>
#include <cmath>

namespace mpm::cli {

std::vector<bool> paretoFront(const std::vector<TradePoint>& points) {
  std::vector<bool> front;
  for (const TradePoint& point : points) {
    const bool beaten = std::any_of(points.begin(), points.end(), [&](const TradePoint& other) {
      return other.cost <= point.cost && other.value >= point.value &&
             (other.cost < point.cost || other.value > point.value);
    });
    front.push_back(!beaten && !std::isnan(point.cost) && !std::isnan(point.value));
  }
  return front;
}

}  // namespace mpm::cli
