// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <vector>

namespace mpm::vision {

/// The content of a picture as one row {1, 2 * dim} CV_32F: mean and standard deviation of its tokens, each scaled to
/// length
/// 1. `tokens`: {N, dim} CV_32F, N > 0.
cv::Mat pictureFeature(const cv::Mat& tokens);

struct NextPicture {
  int index = 0;        ///< row of `candidates`
  double distance = 0;  ///< to the nearest picture that is labelled or comes before it
};

/// The pictures to label next, at most `count`: each the one that differs most from what is labelled and from those
/// before it (farthest-first traversal; T. Gonzalez, 1985). Where nothing is labelled, the first is the one nearest to
/// the mean of all. Without candidates that equal one that is labelled. Rows are features, CV_32F; both may be empty.
std::vector<NextPicture> furthestFirst(const cv::Mat& candidates, const cv::Mat& labelled, int count);

}  // namespace mpm::vision
