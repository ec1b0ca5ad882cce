// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>

#include "charts/draw_chart.h"

namespace mpm::charts {

/// The chart as a picture of 1280 x 480, CV_8UC3; higher with more than three lanes. Its axis needs only `from` and
/// `to`.
cv::Mat chartPicture(ChartDrawing chart);

}  // namespace mpm::charts
