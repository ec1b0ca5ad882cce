// SPDX-License-Identifier: Apache-2.0
#include "charts/palette.h"

namespace mpm::charts {

ChartColors chartColors(bool dark) {
  if (!dark) return {};
  return {.background = 0x1a2029,
          .text = 0xe7ebf1,
          .muted = 0xa3aebd,
          .border = 0x465264,
          .grid = 0x2c3542,
          .night = 0x262f40,
          .by_day = 0xf2ab4e,
          .by_night = 0x93a7ff,
          .series = {0x7db8ff, 0xf2ab4e, 0x4cc9a7, 0xcf9af2}};
}

}  // namespace mpm::charts
