// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>
#include <opencv2/core.hpp>

#include "mpm/options.hpp"

// Operations on maps of labels, CV_8U, that need no network.
namespace mpm::gui {

/// Where two label maps of one picture differ.
struct LabelChanges {
  struct Change {
    int from = 0, to = 0, pixels = 0;
  };
  std::vector<Change> changes;  ///< most pixels first
  double share = 0;             ///< of the picture, 0..1
  QImage picture;               ///< grey, and what changed in the colour of its new label
};

/// `image`: CV_8UC3. `before`, `after`: CV_8U, which lie over the picture in any size. `colors`: of each label. Uses no
/// OpenCV function with threads, as paintClasses().
LabelChanges labelChanges(const cv::Mat& image, const cv::Mat& before, const cv::Mat& after,
                          const std::vector<QRgb>& colors);

/// The labels of the picture `from`, moved as what the camera shows moved from there to the picture `to`. All three
/// have one size; `labels` is CV_8UC1, the pictures CV_8UC3. Pixels that come from outside are `ignore`. Empty: it did
/// not move, it is not sure, or it moved so far that this is another view (monitor::isSmall). Takes about 50 ms.
cv::Mat movedLabels(const cv::Mat& labels, const cv::Mat& from, const cv::Mat& to, int ignore);

/// The part of a map that lies below a patch of a grid over the same picture.
cv::Rect cellOf(int token, Size2 grid, cv::Size map);

/// Renumbers a map: `to[label]` in place of each.
cv::Mat renumbered(const cv::Mat& labels, const std::array<uchar, 256>& to);

}  // namespace mpm::gui
