// SPDX-License-Identifier: Apache-2.0
#include "vision/astronomy.h"

#include <algorithm>
#include <cmath>

namespace mpm::vision {
namespace {

constexpr double kDegree = 3.14159265358979323846 / 180;
double sine(double degrees) { return std::sin(degrees * kDegree); }
double cosine(double degrees) { return std::cos(degrees * kDegree); }

double daysSinceJ2000(double unix_time) { return unix_time / 86400 + 2440587.5 - 2451545.0; }

struct Ecliptic {
  double longitude = 0;  // degrees
  double latitude = 0;   // degrees
};

Ecliptic eclipticOfSun(double days) {
  const double anomaly = 357.528 + 0.9856003 * days;
  return {280.460 + 0.9856474 * days + 1.915 * sine(anomaly) + 0.020 * sine(2 * anomaly), 0};
}

SkyPosition seenFrom(Ecliptic place, double days, double latitude, double longitude) {
  const double tilt = 23.439 - 4e-7 * days;
  const double x = cosine(place.latitude) * cosine(place.longitude);
  const double y = cosine(tilt) * cosine(place.latitude) * sine(place.longitude) - sine(tilt) * sine(place.latitude);
  const double z = sine(tilt) * cosine(place.latitude) * sine(place.longitude) + cosine(tilt) * sine(place.latitude);
  const double sidereal_degrees = 15 * (18.697374558 + 24.06570982441908 * days) + longitude;
  const double hour_angle = sidereal_degrees - std::atan2(y, x) / kDegree;
  const double across = std::hypot(x, y);  // cosine of the declination; z is its sine
  const double east = -across * sine(hour_angle);
  const double north = z * cosine(latitude) - across * cosine(hour_angle) * sine(latitude);
  const double up = z * sine(latitude) + across * cosine(hour_angle) * cosine(latitude);
  double azimuth = std::atan2(east, north) / kDegree;
  if (azimuth < 0) azimuth += 360;
  return {std::asin(std::clamp(up, -1.0, 1.0)) / kDegree, azimuth};
}

}  // namespace

SkyPosition sunPosition(double unix_time, double latitude, double longitude) {
  const double days = daysSinceJ2000(unix_time);
  return seenFrom(eclipticOfSun(days), days, latitude, longitude);
}

double apparentElevation(double elevation) {
  if (elevation < -1) return elevation;
  constexpr double kAir = 1010 / (273.0 + 15);  // pressure by temperature
  double seen = elevation;
  for (int i = 0; i < 8; ++i) {  // the formulas are of the apparent elevation
    seen = elevation + kAir * (seen > 15 ? 0.00452 / std::tan(seen * kDegree)
                                         : (0.1594 + 0.0196 * seen + 0.00002 * seen * seen) /
                                               (1 + 0.505 * seen + 0.0845 * seen * seen));
  }
  return seen;
}

Moon moonPosition(double unix_time, double latitude, double longitude) {
  const double days = daysSinceJ2000(unix_time), t = days / 36525;
  const Ecliptic place = {218.32 + 481267.881 * t + 6.29 * sine(135.0 + 477198.87 * t) -
                              1.27 * sine(259.3 - 413335.36 * t) + 0.66 * sine(235.7 + 890534.22 * t) +
                              0.21 * sine(269.9 + 954397.74 * t) - 0.19 * sine(357.5 + 35999.05 * t) -
                              0.11 * sine(186.5 + 966404.03 * t),
                          5.13 * sine(93.3 + 483202.02 * t) + 0.28 * sine(228.2 + 960400.89 * t) -
                              0.28 * sine(318.3 + 6003.15 * t) - 0.17 * sine(217.6 - 407332.21 * t)};
  Moon moon;
  moon.position = seenFrom(place, days, latitude, longitude);
  // The moon is near enough that the surface is not the centre of the Earth: up to 0.95 degrees lower.
  moon.position.elevation -= 0.9508 * cosine(moon.position.elevation);
  const double elongation_cosine = cosine(place.latitude) * cosine(place.longitude - eclipticOfSun(days).longitude);
  moon.illuminated = (1 - elongation_cosine) / 2;
  return moon;
}

}  // namespace mpm::vision
