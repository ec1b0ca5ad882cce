// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <string>

#include "monitor/store.h"

namespace mpm::cli {

/// The first quantity of a chart over [from, to): the mean as a line, minimum to maximum as a band, nights shaded, gaps
/// left open. CV_8UC3.
cv::Mat chartPicture(const monitor::Chart& chart, monitor::UnixMs from, monitor::UnixMs to, const std::string& title);

}  // namespace mpm::cli
