// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace mpm::charts {

/// Every colour of a chart and a calendar, 0xRRGGBB, on paper, on the page and in the app. The defaults are for paper
/// and whatever is light; lines and bands are apart to colour-blind eyes too.
struct ChartColors {
  std::uint32_t background = 0xffffff, text = 0x1b1f27, muted = 0x555e6d, border = 0xd3d7de, grid = 0xe4e7ec,
                night = 0xdedee2;
  std::uint32_t by_day = 0xb25e00, by_night = 0x3d56c5;  ///< lines of one quantity, where it has two
  std::vector<std::uint32_t> series = {0x1f62c4, 0xb0500f, 0x1a7a5a, 0x8b3fa0};
};

/// `dark`: for a dark page or window.
ChartColors chartColors(bool dark);

}  // namespace mpm::charts
