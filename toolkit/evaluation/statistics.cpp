// SPDX-License-Identifier: Apache-2.0
#include "evaluation/statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <utility>

#include "base/quantiles.h"
#include "vision/draws.h"

namespace mpm::evaluation {
namespace {

constexpr std::size_t kFilmsNeeded = 5, kBlocks = 10;

constexpr double kNormalQuantile = 1.959963984540054;  // 0.975

// How many images each film has, one after the other.
std::vector<std::size_t> lengths(const std::vector<std::string>& film_of_image) {
  std::vector<std::size_t> films;
  for (std::size_t i = 0; i < film_of_image.size(); ++i) {
    if (i == 0 || film_of_image[i] != film_of_image[i - 1]) films.push_back(0);
    ++films.back();
  }
  return films;
}

}  // namespace

BlockBootstrap::BlockBootstrap(std::vector<int> block_of_image) : block_of_image_(std::move(block_of_image)) {
  for (const int block : block_of_image_) blocks_ = std::max(blocks_, block + 1);
  times_.emplace_back(blocks_, 1);
  if (blocks_ < 2) return;
  Draws draws(static_cast<std::uint64_t>(blocks_));
  for (int sample = 0; sample < kSamples; ++sample) {
    std::vector<int>& times = times_.emplace_back(blocks_, 0);
    for (int i = 0; i < blocks_; ++i) ++times[static_cast<std::size_t>(draws.integer(blocks_))];
  }
}

std::vector<double> BlockBootstrap::means(const std::vector<double>& values) const {
  std::vector<double> sums(blocks_), counts(blocks_);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    const auto block = static_cast<std::size_t>(block_of_image_[i]);
    sums[block] += values[i];
    counts[block] += 1;
  }
  return draws([&](const std::vector<int>& times) {
    double sum = 0, count = 0;
    for (std::size_t block = 0; block < times.size(); ++block) {
      sum += times[block] * sums[block];
      count += times[block] * counts[block];
    }
    return sum / count;  // NaN of none
  });
}

std::vector<double> BlockBootstrap::medians(const std::vector<double>& values) const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isnan(values[i])) order.push_back(i);
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  return draws([&](const std::vector<int>& times) {
    const auto timesOf = [&](std::size_t i) { return times[static_cast<std::size_t>(block_of_image_[i])]; };
    std::int64_t total = 0;
    for (const std::size_t i : order) total += timesOf(i);
    std::int64_t before = 0;
    double lower = std::nan("");
    for (const std::size_t i : order) {
      before += timesOf(i);
      if (std::isnan(lower) && before > (total - 1) / 2) lower = values[i];
      if (before > total / 2) return (lower + values[i]) / 2;
    }
    return std::nan("");
  });
}

Interval BlockBootstrap::interval(const std::vector<double>& draws) const {
  Interval result{.value = draws.front()};
  std::vector<double> samples(draws.begin() + 1, draws.end());
  std::erase_if(samples, [](double value) { return std::isnan(value); });
  if (samples.empty() || std::isnan(result.value)) return result;
  const double n = blocks_;
  const double reach = studentQuantile(n - 1) / kNormalQuantile * std::sqrt(n / (n - 1));
  result.low = result.value - reach * (result.value - quantile(samples, 0.025));
  result.high = result.value + reach * (quantile(samples, 0.975) - result.value);
  return result;
}

Interval BlockBootstrap::percentInterval(const std::vector<double>& draws) const {
  Interval result = interval(draws);
  if (!std::isnan(result.low)) result.low = std::max(0.0, result.low);
  if (!std::isnan(result.high)) result.high = std::min(100.0, result.high);
  return result;
}

Interval BlockBootstrap::ratioInterval(std::vector<double> draws) const {
  for (double& one : draws) one = std::log(one);
  const Interval logarithm = interval(draws);
  return {std::exp(logarithm.value), std::exp(logarithm.low), std::exp(logarithm.high)};
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

std::vector<int> blocksOf(const std::vector<std::string>& film_of_image) {
  const std::vector<std::size_t> films = lengths(film_of_image);
  const std::size_t images = film_of_image.size();
  std::vector<int> blocks;
  int next = 0;
  for (const std::size_t film : films) {
    const std::size_t share = (kBlocks * film + images / 2) / images;
    const std::size_t pieces = films.size() >= kFilmsNeeded ? 1 : std::clamp<std::size_t>(share, 1, film);
    for (std::size_t i = 0; i < film; ++i) blocks.push_back(next + static_cast<int>(i * pieces / film));
    next += static_cast<int>(pieces);
  }
  return blocks;
}

MeanEstimate estimateMean(const std::vector<Block>& blocks, bool correlated_hours) {
  double sum = 0, samples = 0;
  for (const Block& block : blocks) {
    sum += block.sum;
    samples += static_cast<double>(block.samples);
  }
  const auto n = static_cast<double>(blocks.size());
  MeanEstimate result{.mean = sum / samples, .variance = 0, .blocks = n};
  if (blocks.size() < 2) return result;
  double scatter = 0, square = 0, lagged = 0;
  int pairs = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const double deviation = blocks[i].mean() - result.mean;
    const double weight = static_cast<double>(blocks[i].samples) / samples;
    scatter += weight * weight * deviation * deviation;
    square += deviation * deviation;
    if (i > 0 && blocks[i].start - blocks[i - 1].start == kHourMs) {
      lagged += deviation * (blocks[i - 1].mean() - result.mean);
      ++pairs;
    }
  }
  result.variance = scatter * n / (n - 1);
  if (correlated_hours && pairs > 0 && square > 0) {
    const double correlation = std::clamp((lagged / pairs) / (square / n), 0.0, 0.95);
    const double inflation = (1 + correlation) / (1 - correlation);
    result.variance *= inflation;
    result.blocks = std::max(1.5, n / inflation);  // some freedom must be left for Student's t
  }
  return result;
}

double halfInterval(const MeanEstimate& a, const MeanEstimate& b) {
  const double variance = a.variance + b.variance;
  if (variance == 0) return 0;
  const double degrees =
      variance * variance / (a.variance * a.variance / (a.blocks - 1) + b.variance * b.variance / (b.blocks - 1));
  return studentQuantile(degrees) * std::sqrt(variance);
}

double studentQuantile(double degrees) {
  constexpr double kConfidence = 0.95;
  return boost::math::quantile(boost::math::students_t(std::max(1.0, degrees)), (1 + kConfidence) / 2);
}

}  // namespace mpm::evaluation
