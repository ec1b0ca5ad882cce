// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <vector>

namespace mpm::evaluation {

/// An example whose label those that look most like it do not have: it, or `like`, may be labelled wrongly.
struct Contradiction {
  int example = 0, like = 0;  ///< indices; `like`: the nearest one with another label
};

/// The examples of which at least two of the three nearest others have other labels, the clearest first: by how much
/// nearer `like` is than the nearest one of their own label. Examples of a label that fewer than three have say
/// nothing. `features`: {examples, channels} CV_64F; distances are Euclidean after each channel is scaled to
/// variance 1.
std::vector<Contradiction> findContradictions(const cv::Mat& features, const std::vector<int>& labels);

}  // namespace mpm::evaluation
