// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mpm::vision {

/// Direction of the sun or the moon for an observer, degrees.
struct SkyPosition {
  double elevation = 0;  ///< above the flat horizon, without refraction
  double azimuth = 0;    ///< clockwise from north
};

/// `unix_time`: s since 1970 UTC (not UnixMs, which is ms). Latitude north and longitude east, degrees. Accurate to
/// about 0.02 degrees between 1950 and 2050 (low-precision formulas of the Astronomical Almanac, page C5).
SkyPosition sunPosition(double unix_time, double latitude, double longitude);

/// Where the sun seems to stand: its elevation lifted by the refraction of air of 1010 hPa and 15 degrees C, by 0.09
/// degrees at 10 and half a degree at the horizon (the Almanac's page B62). Below -1 degree it is as it was.
double apparentElevation(double elevation);

struct Moon {
  SkyPosition position;    ///< from the surface; accurate to about 0.3 degrees (the Almanac's page D22)
  double illuminated = 0;  ///< share of the disc, 0..1
};
/// `unix_time`: s since 1970 UTC (not UnixMs, which is ms). Latitude north and longitude east, degrees.
Moon moonPosition(double unix_time, double latitude, double longitude);

}  // namespace mpm::vision
