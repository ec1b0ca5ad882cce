// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <vector>

namespace mpm::vision {

/// The labelled pixels of one picture.
struct LabelSummary {
  std::vector<int> pixels;  ///< labelled, of each class
  double brightness = 0;    ///< mean of all channels, 0..255
  double area = 0;          ///< px of the picture
};

/// LabelSummary::pixels of a label map.
std::vector<int> labelledPixels(const cv::Mat& labels, int classes);
/// `image`: CV_8UC3. `labels`: CV_8U, same size; values from `classes` on are no class.
LabelSummary summaryOf(const cv::Mat& image, const cv::Mat& labels, int classes);

/// How far a set of labels is from a good start: four pictures, one of them by night, each class in three of them.
struct LabelProgress {
  static constexpr int kPictures = 4, kPicturesPerClass = 3;

  int pictures = 0;
  /// One has at most three quarters of the brightness of another. A camera brightens its pictures by night, so no
  /// brightness alone means night.
  bool night = false;
  std::vector<int> rare{};  ///< classes in fewer than kPicturesPerClass pictures, ascending
};

LabelProgress progressOf(const std::vector<LabelSummary>& pictures, int classes);

/// The content of a picture as one row {1, 2 * dim} CV_32F: mean and standard deviation of its tokens, each scaled to
/// length 1. `tokens`: {N, dim} CV_32F, N > 0.
cv::Mat pictureFeature(const cv::Mat& tokens);

/// The rows of the pictures to label next, at most `count`: each the one that differs most from what is labelled and
/// from those before it (farthest-first traversal; T. Gonzalez, 1985). Where nothing is labelled, the first is the one
/// nearest to the mean of all. Candidates that equal a labelled one are left out. Rows: features, CV_32F; may be empty.
std::vector<int> furthestFirst(const cv::Mat& candidates, const cv::Mat& labelled, int count);

}  // namespace mpm::vision
