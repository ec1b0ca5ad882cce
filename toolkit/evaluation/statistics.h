// SPDX-License-Identifier: Apache-2.0
// Numbers of many pictures: means, intervals, and what beats what.
#pragma once

#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace mpm::evaluation {

/// A number of each image.
struct PerImage {
  std::vector<double> values;

  void add(double value) { values.push_back(value); }
  void add(const PerImage& other) { values.insert(values.end(), other.values.begin(), other.values.end()); }
  double mean() const {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }
  /// Standard deviation between images; nullopt of a single one.
  std::optional<double> deviation() const {
    if (values.size() < 2) return std::nullopt;
    const double middle = mean();
    double squares = 0;
    for (const double value : values) squares += (value - middle) * (value - middle);
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
  }
};

/// Numbers of pictures, such as the mIoU and the IoU of each class.
using Statistics = std::function<std::vector<double>(const std::vector<int>& pictures)>;

/// Each of the numbers in each of 1000 samples of `count` pictures, drawn with replacement: {numbers, 1000}. Which
/// pictures are drawn depends on `count` only, so the difference of two models on the same pictures is that of their
/// values one by one. Empty for fewer than 2 pictures.
std::vector<std::vector<double>> bootstrap(int count, const Statistics& statistics);

/// The quantiles 0.025 and 0.975 of the draws of one number, without NaN: a 95 % interval, if the pictures are
/// independent. NaN without draws.
std::pair<double, double> interval(std::vector<double> draws);

struct TradePoint {
  double cost = 0, value = 0;
};

/// For each point whether no other one beats it: costs at most as much, is worth at least as much, and is not equal in
/// both. A point with NaN is never on the front.
std::vector<bool> paretoFront(const std::vector<TradePoint>& points);

}  // namespace mpm::evaluation
