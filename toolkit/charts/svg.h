// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "charts/draw_chart.h"

namespace mpm::charts {

/// The chart as an SVG document of this size in px, without scripts and styles; its axis needs no place in px. The
/// attributes data-from and data-to (ms since 1970), data-left and data-right, data-top and data-bottom (px) of its
/// root say where times and values lie, for what a page lays over it. Names from outside become visible text: they are
/// never read as XML.
std::string chartSvg(ChartDrawing chart, cv::Size2d size);

}  // namespace mpm::charts
