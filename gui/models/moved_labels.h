// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>

namespace mpm::gui {

/// The labels of the picture `from`, moved as what the camera shows moved from there to the picture `to`. All three
/// have one size; `labels` is CV_8UC1, the pictures CV_8UC3. Pixels that come from outside are `ignore`. Empty: it did
/// not move, it is not sure, or it moved so far that this is another view (monitor::isSmall). Takes about 50 ms.
cv::Mat movedLabels(const cv::Mat& labels, const cv::Mat& from, const cv::Mat& to, int ignore);

}  // namespace mpm::gui
