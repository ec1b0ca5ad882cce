// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "monitor/store/store.h"

namespace mpm::cli {

struct ChartText {
  std::string title;
  std::string unit{};                 ///< of the values
  std::vector<std::string> series{};  ///< name of each quantity; empty: there is one, its mean
};

/// The quantities of a chart over [from, to): the mean as a line, minimum to maximum as a band, nights shaded, gaps
/// left open, a legend. Of fewer than two buckets it says that there is too little. CV_8UC3.
cv::Mat chartPicture(const monitor::Chart& chart, monitor::UnixMs from, monitor::UnixMs to, const ChartText& text);

}  // namespace mpm::cli
