// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "vision/time.h"

namespace mpm::evaluation {

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
