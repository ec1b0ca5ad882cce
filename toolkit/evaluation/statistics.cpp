// SPDX-License-Identifier: Apache-2.0
#include "evaluation/statistics.h"

#include <algorithm>

#include "base/quantiles.h"
#include "vision/draws.h"

namespace mpm::evaluation {

std::vector<std::vector<double>> bootstrap(int count, const Statistics& statistics) {
  constexpr int kSamples = 1000;
  std::vector<std::vector<double>> draws_of_number;
  if (count < 2) return draws_of_number;
  std::vector<int> pictures(static_cast<std::size_t>(count));
  Draws draws(static_cast<std::uint64_t>(count));
  for (int sample = 0; sample < kSamples; ++sample) {
    for (int& picture : pictures) picture = draws.integer(count);
    const std::vector<double> numbers = statistics(pictures);
    draws_of_number.resize(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) draws_of_number[i].push_back(numbers[i]);
  }
  return draws_of_number;
}

std::pair<double, double> interval(std::vector<double> draws) {
  std::erase_if(draws, [](double value) { return std::isnan(value); });
  if (draws.empty()) return {std::nan(""), std::nan("")};
  return {quantile(draws, 0.025), quantile(draws, 0.975)};
}

std::vector<bool> paretoFront(const std::vector<TradePoint>& points) {
  std::vector<bool> front;
  for (const TradePoint& point : points) {
    const bool beaten = std::ranges::any_of(points, [&](const TradePoint& other) {
      return other.cost <= point.cost && other.value >= point.value &&
             (other.cost < point.cost || other.value > point.value);
    });
    front.push_back(!beaten && !std::isnan(point.cost) && !std::isnan(point.value));
  }
  return front;
}

}  // namespace mpm::evaluation
