// SPDX-License-Identifier: Apache-2.0
#include "evaluation/statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <map>

#include "base/quantiles.h"
#include "vision/draws.h"

namespace mpm::evaluation {
namespace {

constexpr std::size_t kFilmsNeeded = 5, kBlocks = 10;

// How many images each film has, one after the other; films of one image side by side are one.
std::vector<std::size_t> lengths(const std::vector<int>& film_of_image) {
  std::vector<std::size_t> films;
  bool single = false;  // the last film is made of single images
  for (std::size_t begin = 0, end = 0; begin < film_of_image.size(); begin = end) {
    while (end < film_of_image.size() && film_of_image[end] == film_of_image[begin]) ++end;
    const bool joins = single && end - begin == 1;
    single = end - begin == 1;
    if (joins)
      ++films.back();
    else
      films.push_back(end - begin);
  }
  return films;
}

}  // namespace

std::vector<double> bootstrap(int count, const std::function<double(const std::vector<int>& pictures)>& number) {
  constexpr int kSamples = 1000;
  std::vector<double> numbers;
  if (count < 2) return numbers;
  std::vector<int> pictures(static_cast<std::size_t>(count));
  Draws draws(static_cast<std::uint64_t>(count));
  for (int sample = 0; sample < kSamples; ++sample) {
    for (int& picture : pictures) picture = draws.integer(count);
    numbers.push_back(number(pictures));
  }
  return numbers;
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

std::vector<int> blocksOf(const std::vector<int>& film_of_image) {
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

double halfInterval(const MeanEstimate& mean) { return studentQuantile(mean.blocks - 1) * std::sqrt(mean.variance); }

double halfInterval(const MeanEstimate& a, const MeanEstimate& b) {
  const double variance = a.variance + b.variance;
  if (variance == 0) return 0;
  const double degrees =
      variance * variance / (a.variance * a.variance / (a.blocks - 1) + b.variance * b.variance / (b.blocks - 1));
  return studentQuantile(degrees) * std::sqrt(variance);
}

std::optional<double> halfInterval(const std::vector<double>& values, const std::vector<int>& block_of_value) {
  std::map<int, Block> blocks;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Block& block = blocks[block_of_value[i]];
    block.sum += values[i];
    ++block.samples;
  }
  if (blocks.size() < 2) return std::nullopt;
  std::vector<Block> all;
  for (const auto& [number, block] : blocks) all.push_back(block);
  return halfInterval(estimateMean(all));
}

double studentQuantile(double degrees) {
  constexpr double kConfidence = 0.95;
  return boost::math::quantile(boost::math::students_t(std::max(1.0, degrees)), (1 + kConfidence) / 2);
}

}  // namespace mpm::evaluation
