// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <vector>

namespace mpm::evaluation {

/// An example that looks most like examples of another label: it, or `like`, may be labelled wrongly.
struct Contradiction {
  int example = 0, like = 0;  ///< indices; `like`: the nearest one with another label
};

/// The examples with another label than at least two of their three nearest neighbours. The clearest come first: those
/// with the smallest ratio of the distance to `like` to that to the nearest neighbour of their own label. An example is
/// not reported if fewer than three have its label. `features`: {examples, channels} CV_64F; distances are Euclidean
/// after each channel is scaled to variance 1.
std::vector<Contradiction> findContradictions(const cv::Mat& features, const std::vector<int>& labels);

}  // namespace mpm::evaluation
