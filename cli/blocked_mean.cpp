// SPDX-License-Identifier: Apache-2.0
#include "cli/blocked_mean.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>

#include "monitor/statistics/statistics.h"

namespace mpm::cli {
namespace {

constexpr std::size_t kFilmsNeeded = 5, kBlocks = 10;

/// How many images each film has, one after the other; single ones side by side are one.
std::vector<std::size_t> lengths(const std::vector<int>& film_of_image) {
  std::vector<std::size_t> films;
  for (std::size_t i = 0; i < film_of_image.size(); ++i) {
    if (i > 0 && film_of_image[i] == film_of_image[i - 1])
      ++films.back();
    else
      films.push_back(1);
  }
  std::vector<std::size_t> merged;
  bool after_single = false;
  for (const std::size_t film : films) {
    if (film == 1 && after_single)
      ++merged.back();
    else
      merged.push_back(film);
    after_single = film == 1;
  }
  return merged;
}

}  // namespace

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

std::optional<double> halfInterval(const std::vector<double>& values, const std::vector<int>& block_of_value) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  std::map<int, double> deviations;  // of the sum of a block from what the mean makes of it
  for (std::size_t i = 0; i < values.size(); ++i) deviations[block_of_value[i]] += values[i] - mean;
  if (deviations.size() < 2) return std::nullopt;
  const auto blocks = static_cast<double>(deviations.size());
  double squares = 0;
  for (const auto& [block, deviation] : deviations) squares += deviation * deviation;
  return monitor::studentQuantile(0.95, blocks - 1) * std::sqrt(blocks / (blocks - 1) * squares) / count;
}

}  // namespace mpm::cli
