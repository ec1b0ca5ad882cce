// SPDX-License-Identifier: Apache-2.0
// Numbers of many pictures: means, intervals, and what beats what.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
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

/// A number and its 95 % interval; NaN where it is not known.
struct Interval {
  double value = std::nan(""), low = std::nan(""), high = std::nan("");
};

/// Samples of blocks of images, drawn with replacement, for intervals of any number of many images. Which blocks are
/// drawn depends on their number alone, so the difference of two models on the same images is that of their draws.
class BlockBootstrap {
 public:
  static constexpr int kSamples = 2000;

  /// `block_of_image`: as blocksOf() gives it.
  explicit BlockBootstrap(std::vector<int> block_of_image);

  int blocks() const { return blocks_; }
  const std::vector<int>& blockOfImage() const { return block_of_image_; }

  /// number(times) of the images themselves, then of each sample; `times`: how often each block is there. Of fewer than
  /// two blocks there is no sample.
  template <class Number>
  std::vector<double> draws(Number number) const {
    std::vector<double> numbers;
    for (const std::vector<int>& times : times_) numbers.push_back(number(times));
    return numbers;
  }
  /// Of the mean of values, one of each image; images with NaN do not count.
  std::vector<double> means(const std::vector<double>& values) const;
  /// The same of the median, interpolated as quantile() does.
  std::vector<double> medians(const std::vector<double>& values) const;

  /// The first of draws() and the interval of the others, without NaN: their quantiles 0.025 and 0.975, as far from the
  /// value as Student's t asks for. Quantiles of samples of n blocks alone contain the truth too rarely where n is
  /// small: the distances are multiplied by t(n - 1) / 1.96 * sqrt(n / (n - 1)), which is 1.22 of ten blocks.
  Interval interval(const std::vector<double>& draws) const;
  /// The same of a share in percent, whose interval ends at 0 and 100.
  Interval percentInterval(const std::vector<double>& draws) const;
  /// The same of a time or a ratio, which are above 0: the interval of its logarithm. So it stays above 0, and that of
  /// 1 / x is that of x turned round.
  Interval ratioInterval(std::vector<double> draws) const;

 private:
  std::vector<int> block_of_image_;
  int blocks_ = 0;
  std::vector<std::vector<int>> times_;  // of each block: once, then in each sample
};

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

/// Half the width of the 95 % interval of a difference of two means, by Welch's degrees of freedom.
double halfInterval(const MeanEstimate& a, const MeanEstimate& b);

/// The block of each image, from 0 on: the one rule for what counts as independent. Where there are five films or more,
/// each film is one block; else a film is cut into blocks of images that follow each other, about ten in all.
/// `film_of_image`: in the order of the images, those of a film side by side.
std::vector<int> blocksOf(const std::vector<std::string>& film_of_image);

/// P(|T| <= result) = 0.95 for Student's t with this number of degrees of freedom (> 0; fewer than 1 count as 1).
double studentQuantile(double degrees);

}  // namespace mpm::evaluation
