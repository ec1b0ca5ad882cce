// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>
#include <opencv2/core.hpp>
#include <vector>

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

}  // namespace mpm::gui
