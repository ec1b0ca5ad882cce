// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "street.h"
#include "vec3.h"
#include "vision/astronomy.h"

namespace mpm::scene {

/// The weather of a moment. Rates and covers are in 0..1.
struct WeatherState {
  float clouds = 0;    ///< share of the sky that clouds cover
  float overcast = 0;  ///< 1: no direct sun, an even grey sky
  float rain = 0;
  float snowfall = 0;
  float snow = 0;        ///< lying on the ground
  float wetness = 0;     ///< of the road
  float extinction = 0;  ///< of the air, per m
  float wind = 0;        ///< 0 calm .. 1 strong
};

WeatherState weatherAt(Weather weather, std::uint64_t seed, double unix_time);

/// The light of a moment. Colours of light are illuminances in lux per channel; a sky or a surface of value v looks
/// like a white sheet of paper that v lux fall on, so one scale serves lamps and the noon sun.
struct Light {
  Vec3 sun_direction;  ///< to the sun, or to the moon when it is the brighter one
  Vec3 sun;            ///< direct light on a surface that faces it; 0 when it is down or behind clouds
  Vec3 to_sun;         ///< always to the sun, also below the horizon
  Vec3 to_moon;
  float moon_illuminated = 0;
  /// Of the sky and what the street throws back, on surfaces that face up, right, left, to the camera and down.
  std::array<Vec3, 5> ambient;
  Vec3 fog;             ///< what infinitely thick fog would look like
  Vec3 cloud_sun;       ///< direct sunlight at the height of the clouds
  Vec3 cloud_shade;     ///< light on the shaded side of clouds
  Vec3 night_glow;      ///< of the town and the moon in the sky
  Vec3 overcast_sky;    ///< mean of an overcast sky
  float sky_scale = 1;  ///< from computed radiance to the illuminance that is measured at this height of the sun
  float sky_lux = 0;    ///< of the clear sky without the sun, lux
  float blue_hour = 0;  ///< share of light scattered many times
  float day = 0;        ///< horizontal illuminance of sun and sky, lux
  float lamps = 0;      ///< street lamps, 0 off .. 1 on
  Vec3 lamp_colour;     ///< of luminance 1

  /// Sky light on any normal.
  Vec3 ambientOn(Vec3 normal) const;
};

Light lightAt(const vision::SkyPosition& sun, const vision::Moon& moon, double street_azimuth,
              const WeatherState& weather);

/// The light of the sky in direction `view`, in the units of Light, without clouds; when overcast, of the even cloud.
Vec3 behindClouds(Vec3 view, const Light& light, const WeatherState& weather);

}  // namespace mpm::scene
