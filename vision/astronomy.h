// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mpm::vision {

/// Where something in the sky stands for an observer, in degrees: above the flat horizon, without refraction, and
/// clockwise from north.
struct SkyPosition {
  double elevation = 0;
  double azimuth = 0;
};

/// To about 0.02 degrees between 1950 and 2050 (the low-precision formulas of the Astronomical Almanac, page C5).
SkyPosition sunPosition(double unix_time, double latitude, double longitude);

struct Moon {
  SkyPosition position;    ///< seen from the surface; to about 0.3 degrees (the Almanac's page D22)
  double illuminated = 0;  ///< share of the disc, 0..1
};
Moon moonPosition(double unix_time, double latitude, double longitude);

}  // namespace mpm::vision
