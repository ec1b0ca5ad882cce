// SPDX-License-Identifier: Apache-2.0
// Numbers of many pictures: means, intervals, and what beats what.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "vision/time.h"

namespace mpm::evaluation {

/// A number of each image.
struct PerImage {
  std::vector<double> values;

  void add(double value) { values.push_back(value); }
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

/// A number of pictures, such as their mIoU, of each of 1000 samples of `count` pictures, drawn with replacement. Which
/// pictures are drawn depends on `count` only, so the difference of two models on the same pictures is that of their
/// values one by one. Empty for fewer than 2 pictures.
std::vector<double> bootstrap(int count, const std::function<double(const std::vector<int>& pictures)>& number);

/// The quantiles 0.025 and 0.975 of the draws of one number, without NaN: a 95 % interval, if the pictures are
/// independent. NaN without draws.
std::pair<double, double> interval(std::vector<double> draws);

struct TradePoint {
  double cost = 0, value = 0;
};

/// For each point whether no other one beats it: costs at most as much, is worth at least as much, and is not equal in
/// both. A point with NaN is never on the front.
std::vector<bool> paretoFront(const std::vector<TradePoint>& points);

/// Samples that count as one independent observation: an hour, a night, a film. Frames that follow each other are
/// alike, so an interval over frames would contain the truth far too rarely.
struct Block {
  UnixMs start = 0;  ///< of its first hour; only estimateMean() of correlated hours looks at it
  double sum = 0;
  std::int64_t samples = 0;
  double mean() const { return sum / static_cast<double>(samples); }
};

struct MeanEstimate {
  double mean = 0;      ///< over all samples
  double variance = 0;  ///< of the mean; 0 for fewer than two blocks
  double blocks = 0;    ///< as many as if they were independent of each other
};

/// Mean over the samples of all blocks, its variance from how the blocks scatter: the estimator of a ratio, for blocks
/// that do not all hold the same number of samples. `correlated_hours`: a block is an hour, and the lag-1
/// autocorrelation of the hours widens the variance.
MeanEstimate estimateMean(const std::vector<Block>& blocks, bool correlated_hours = false);

/// Half the width of the 95 % interval of a mean, by Student's t.
double halfInterval(const MeanEstimate& mean);
/// Half the width of the 95 % interval of a difference of two means, by Welch's degrees of freedom.
double halfInterval(const MeanEstimate& a, const MeanEstimate& b);
/// Half the width of the 95 % interval of the mean of `values`, each in the block of this number; nullopt for fewer
/// than two blocks.
std::optional<double> halfInterval(const std::vector<double>& values, const std::vector<int>& block_of_value);

/// The block of each image, from 0 on. Where there are five films or more, each film is one block; else a film is cut
/// into blocks of images that follow each other, about ten in all. `film_of_image`: in the order of the images; films
/// of one image side by side count as one film, because a camera's files given one by one are.
std::vector<int> blocksOf(const std::vector<int>& film_of_image);

/// P(|T| <= result) = 0.95 for Student's t with this number of degrees of freedom (> 0; fewer than 1 count as 1).
double studentQuantile(double degrees);

}  // namespace mpm::evaluation
