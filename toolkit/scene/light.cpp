// SPDX-License-Identifier: Apache-2.0
#include "light.h"

namespace mpm::scene {
namespace {

constexpr float kEarth = 6371, kTop = 60;  // km
// Scattering per km at sea level for red, green, blue; ozone absorbs where its layer is densest.
constexpr Vec3 kRayleigh = {5.8e-3f, 13.5e-3f, 33.1e-3f};
constexpr Vec3 kMie = {6e-3f, 6e-3f, 6e-3f};
constexpr Vec3 kOzone = {0.65e-3f, 1.88e-3f, 0.085e-3f};

struct Density {
  float rayleigh, mie, ozone;
};
Density densityAt(float altitude) {
  return {std::exp(-altitude / 8.0f), std::exp(-altitude / 1.2f), std::max(0.0f, 1 - std::abs(altitude - 25) / 15)};
}

Vec3 extinction(Density d) { return kRayleigh * d.rayleigh + kMie * (1.1f * d.mie) + kOzone * d.ozone; }

// Length of the way to the top of the air, in km, from a distance to the Earth's centre and the sine of the elevation.
float wayOut(float radius, float sine) {
  const float inside = radius * radius * (sine * sine - 1) + (kEarth + kTop) * (kEarth + kTop);
  return -radius * sine + std::sqrt(std::max(inside, 0.0f));
}

float altitudeAfter(float radius, float sine, float way) {
  return std::sqrt(radius * radius + way * way + 2 * radius * sine * way) - kEarth;
}

// Sunlight in clear air over a round Earth: Rayleigh and Mie scattering once, ozone absorption, and a guess at the
// light scattered more often. The colours of the sky at every height of the sun follow from it, also at dawn.
class Atmosphere {
 public:
  Atmosphere() {
    for (int i = 0; i < kAltitudes; ++i) {
      for (int j = 0; j < kSines; ++j) {
        const float relative = static_cast<float>(i) / (kAltitudes - 1), altitude = kTop * relative * relative;
        const float u = 2 * static_cast<float>(j) / (kSines - 1) - 1, sine = u * std::abs(u);
        const float radius = kEarth + altitude;
        Vec3 depth;
        constexpr int kSteps = 48;
        const float way = wayOut(radius, sine);
        float lowest = altitude;
        for (int step = 0; step < kSteps; ++step) {
          const float h = altitudeAfter(radius, sine, way * (step + 0.5f) / kSteps);
          lowest = std::min(lowest, h);
          depth += extinction(densityAt(std::max(h, 0.0f))) * (way / kSteps);
        }
        // The sun is a disc and the air bends its light: the edge of the Earth's shadow is not sharp.
        table_[i * kSines + j] = exp(depth * -1) * smoothstep(-6, 1, lowest);
      }
    }
  }

  // Share of the sun's light that reaches `altitude`, km, at this sine of its elevation there; 0 in the Earth's shadow.
  Vec3 transmittance(float altitude, float sine) const {
    const float i = std::sqrt(clamp01(altitude / kTop)) * (kAltitudes - 1);
    const float j = (std::copysign(std::sqrt(std::min(std::abs(sine), 1.0f)), sine) + 1) / 2 * (kSines - 1);
    const int i0 = std::min(static_cast<int>(i), kAltitudes - 2), j0 = std::min(static_cast<int>(j), kSines - 2);
    const Vec3* low = &table_[i0 * kSines + j0];
    const float b = j - static_cast<float>(j0);
    return lerp(lerp(low[0], low[1], b), lerp(low[kSines], low[kSines + 1], b), i - static_cast<float>(i0));
  }

  // Light that comes from direction `view` (unit, y up) when the sun is at `sun`, in units of sunlight above the air.
  Vec3 radiance(Vec3 view, Vec3 sun) const {
    constexpr int kSteps = 14;
    const float sine = std::max(view.y, 0.01f), radius = kEarth + 0.05f, way = wayOut(radius, sine);
    const float cosine = dot(view, sun);
    const float rayleigh = 3 / (16 * kPi) * (1 + cosine * cosine);
    constexpr float g = 0.78f;
    const float mie = 3 / (8 * kPi) * (1 - g * g) * (1 + cosine * cosine) /
                      ((2 + g * g) * std::pow(1 + g * g - 2 * g * cosine, 1.5f));
    Vec3 depth, light;
    float from = 0;
    for (int step = 0; step < kSteps; ++step) {
      const float end = (step + 1.0f) / kSteps, to = way * end * end, length_of_step = to - from;
      const float s = (from + to) / 2, h = altitudeAfter(radius, sine, s);
      from = to;
      const Density density = densityAt(h);
      const Vec3 half = extinction(density) * (length_of_step / 2);
      depth += half;
      const Vec3 up = Vec3{view.x * s, radius + view.y * s, view.z * s} * (1 / (kEarth + h));
      const float height_of_sun = dot(up, sun);
      const Vec3 direct = transmittance(h, height_of_sun);
      const Vec3 scattered = kRayleigh * density.rayleigh, hazed = kMie * density.mie;
      // Light scattered before: as if the lower sky glowed evenly with part of what passes this height.
      const Vec3 again = transmittance(h + 4, height_of_sun + 0.06f) * 0.017f;
      light +=
          exp(depth * -1) * length_of_step * (scattered * (direct * rayleigh + again) + hazed * (direct * mie + again));
      depth += half;
    }
    return light;
  }

 private:
  static constexpr int kAltitudes = 24, kSines = 128;
  std::array<Vec3, kAltitudes * kSines> table_;
};

const Atmosphere& air() {
  static const Atmosphere value;
  return value;
}

constexpr float kSunlight = 128000;  // lux above the air
constexpr Vec3 kSunColour = {1.04f, 1.0f, 0.94f};
constexpr Vec3 kMoonColour = {0.95f, 1.0f, 1.1f};
constexpr Vec3 kNightGlow = {0.075f, 0.070f, 0.085f};  // lux, of a town's sky without the moon

// Illuminance of the clear sky without the sun's disc, lux, by the sun's elevation in degrees; between the rows its
// logarithm is linear. Rounded from measured twilight tables; single scattering alone is too dark after sunset.
struct Row {
  float elevation, lux;
};
constexpr Row kSkyLux[] = {{-18, 0.0007f}, {-15, 0.002f}, {-12, 0.01f}, {-9, 0.14f}, {-6, 3.4f},
                           {-4, 26},       {-2, 130},     {0, 480},     {2, 1200},   {5, 2900},
                           {10, 5600},     {20, 9500},    {35, 13500},  {60, 17500}, {90, 19000}};

float skyLux(float elevation) {
  if (elevation <= kSkyLux[0].elevation) return kSkyLux[0].lux;
  for (std::size_t i = 1; i < std::size(kSkyLux); ++i) {
    if (elevation <= kSkyLux[i].elevation) {
      const Row &a = kSkyLux[i - 1], &b = kSkyLux[i];
      const float t = (elevation - a.elevation) / (b.elevation - a.elevation);
      return std::exp(lerp(std::log(a.lux), std::log(b.lux), t));
    }
  }
  return std::end(kSkyLux)[-1].lux;
}

Vec3 direction(const vision::SkyPosition& place, double street_azimuth) {
  const auto elevation = static_cast<float>(place.elevation * kPi / 180);
  const auto azimuth = static_cast<float>((place.azimuth - street_azimuth) * kPi / 180);
  return {std::sin(azimuth) * std::cos(elevation), std::sin(elevation), std::cos(azimuth) * std::cos(elevation)};
}

// Directions that share the upper half of the sphere evenly, ring by ring from the horizon.
constexpr int kRings = 6, kSectors = 14;
std::array<Vec3, kRings * kSectors> dome() {
  std::array<Vec3, kRings * kSectors> directions;
  for (int ring = 0; ring < kRings; ++ring) {
    for (int sector = 0; sector < kSectors; ++sector) {
      const float y = (ring + 0.5f) / kRings, across = std::sqrt(1 - y * y);
      const float turn = 2 * kPi * (sector + 0.5f * (ring % 2)) / kSectors;
      directions[ring * kSectors + sector] = {across * std::sin(turn), y, across * std::cos(turn)};
    }
  }
  return directions;
}

Vec3 scattered(Vec3 view, const Light& light) {
  // Deep in twilight one scattering is no longer what lights the sky: its pattern is kept from 7 degrees down, and the
  // measured table goes on making it darker.
  Vec3 sun = light.to_sun;
  constexpr float kLowest = -0.122f;
  if (sun.y < kLowest) {
    const float across = std::sqrt((1 - kLowest * kLowest) / std::max(1 - sun.y * sun.y, 1e-6f));
    sun = {sun.x * across, kLowest, sun.z * across};
  }
  return air().radiance(view, sun) * kSunColour * (kSunlight * kPi);
}

// Radiance times pi. Pattern and scale of single scattering, and the blue of light that the upper air has scattered
// often while ozone took its orange: it takes over as the sun sinks.
Vec3 clearSky(Vec3 view, const Light& light) {
  constexpr Vec3 kBlueHour = {0.58f, 1.0f, 2.2f};
  const Vec3 blue = kBlueHour * (light.sky_lux * (0.75f + 0.4f * std::max(view.y, 0.0f)));
  return lerp(scattered(view, light) * light.sky_scale, blue, light.blue_hour);
}

}  // namespace

Vec3 Light::ambientOn(Vec3 n) const {
  const Vec3 vertical = n.y > 0 ? ambient[0] : ambient[4];
  const Vec3 sideways = n.x > 0 ? ambient[1] : ambient[2];
  const float x = n.x * n.x, y = n.y * n.y, z = n.z * n.z;
  const Vec3 depth = n.z < 0 ? ambient[3] : (ambient[1] + ambient[2]) * 0.5f;
  return vertical * y + sideways * x + depth * z;
}

Light lightAt(const vision::SkyPosition& sun, const vision::Moon& moon, double street_azimuth,
              const WeatherState& weather) {
  Light light;
  light.to_sun = direction(sun, street_azimuth);
  light.to_moon = direction(moon.position, street_azimuth);
  light.moon_illuminated = static_cast<float>(moon.illuminated);
  const auto elevation = static_cast<float>(sun.elevation);

  const float direct_share = 1 - weather.overcast;
  const Vec3 at_ground = air().transmittance(0.05f, light.to_sun.y);
  const Vec3 sun_light = at_ground * kSunColour * kSunlight;
  light.sun = sun_light * direct_share;
  light.sun_direction = light.to_sun;
  light.cloud_sun = air().transmittance(2, light.to_sun.y + 0.025f) * kSunColour * kSunlight;
  // How much of the full moon's light a part of the disc gives: the half moon has about a tenth.
  const float phase_light = std::pow(light.moon_illuminated, 3.2f);
  const float moon_lux = light.to_moon.y <= 0 ? 0 : 0.27f * phase_light * direct_share;
  if (luminance(light.sun) < moon_lux) {
    light.sun_direction = light.to_moon;
    light.sun = kMoonColour * (moon_lux * smoothstep(0, 0.15f, light.to_moon.y));
  }

  // The clear sky of this moment, measured on the dome and scaled to the table.
  const auto directions = dome();
  std::array<Vec3, kRings * kSectors> radiance;
  const auto sumOf = [&](Vec3 (*sky)(Vec3 view, const Light& light)) {
    Vec3 sum;
    for (std::size_t i = 0; i < directions.size(); ++i) {
      radiance[i] = sky(directions[i], light);
      sum += radiance[i] * directions[i].y;
    }
    return sum;
  };
  const float weight = 2.0f / static_cast<float>(directions.size());  // of a radiance times pi, towards an illuminance
  const float computed = std::max(luminance(sumOf(scattered)) * weight, 1e-9f), wanted = skyLux(elevation);
  light.sky_scale = std::min(wanted / computed, 1e6f);
  light.sky_lux = wanted;
  light.blue_hour = 0.72f * smoothstep(2, -7, elevation);

  const Vec3 sky_total = sumOf(clearSky) * weight;
  const float sun_on_ground = luminance(sun_light) * std::max(light.to_sun.y, 0.0f);
  // Thick cloud lets about a third of the light through, and takes its colour away.
  const float grey_lux = 0.30f * sun_on_ground + 0.45f * luminance(sky_total);
  const float warmth = smoothstep(12, -2, elevation) * smoothstep(-7, -2, elevation);
  const Vec3 grey_day = lerp(Vec3{0.97f, 1.0f, 1.05f}, Vec3{1.06f, 0.98f, 0.98f}, warmth);
  const float night = clamp01(1 - luminance(sky_total) / 3);
  light.night_glow =
      lerp(kNightGlow, Vec3{0.25f, 0.20f, 0.18f}, weather.overcast) * night +
      kMoonColour * (0.05f * moon_lux + 0.03f * phase_light * smoothstep(0, 0.3f, light.to_moon.y)) * night;
  light.overcast_sky = grey_day * grey_lux + light.night_glow;

  constexpr std::array<Vec3, 5> kNormals = {{{0, 1, 0}, {1, 0, 0}, {-1, 0, 0}, {0, 0, -1}, {0, -1, 0}}};
  for (int facing = 0; facing < 5; ++facing) {
    Vec3 clear;
    float grey = 0;
    for (std::size_t i = 0; i < directions.size(); ++i) {
      const float cosine = std::max(dot(directions[i], kNormals[facing]), 0.0f);
      clear += radiance[i] * cosine;
      grey += cosine * (1 + 2 * directions[i].y) / 3 * (9.0f / 7);
    }
    light.ambient[facing] =
        lerp(clear * weight + light.night_glow, light.overcast_sky * (grey * weight), weather.overcast);
  }
  // Light that the street reflects: sunlit ground and walls light the shade with a warmer colour.
  const Vec3 ground = (light.sun * std::max(light.sun_direction.y, 0.0f) + light.ambient[0]) *
                      Vec3{0.17f, 0.16f, 0.15f} * (1 + 2.5f * weather.snow);
  const Vec3 walls = (light.sun * 0.35f + light.ambient[0]) * Vec3{0.13f, 0.11f, 0.09f};
  light.ambient[0] = light.ambient[0] * 0.82f + walls * 0.6f;
  for (int facing = 1; facing < 4; ++facing)
    light.ambient[facing] = light.ambient[facing] * 0.8f + ground * 0.5f + walls * 0.5f;
  light.ambient[4] = ground + walls * 0.3f;

  light.day = luminance(light.ambient[0]) + luminance(light.sun) * std::max(light.sun_direction.y, 0.0f);
  light.lamps = smoothstep(120, 40, light.day);
  light.lamp_colour = {1.42f, 0.94f, 0.42f};
  light.cloud_shade = lerp(sky_total * 0.75f + light.cloud_sun * 0.06f, light.overcast_sky * 0.9f, weather.overcast) +
                      light.night_glow * 1.5f;
  Vec3 horizon;
  for (int i = 0; i < kSectors; ++i) horizon += radiance[i] * (1.0f / kSectors);
  light.fog = lerp(horizon * 0.8f + light.night_glow, light.overcast_sky, weather.overcast) +
              light.lamp_colour * (light.lamps * std::min(weather.extinction * 24, 0.6f));
  return light;
}

Vec3 behindClouds(Vec3 view, const Light& light, const WeatherState& weather) {
  // A town's glow is brightest low in the sky.
  const Vec3 glow = light.night_glow * (0.55f + 1.6f * std::exp(-5 * std::max(view.y, 0.0f)));
  const Vec3 clear = clearSky(view, light) + glow;
  const Vec3 grey = light.overcast_sky * ((1 + 2 * std::max(view.y, 0.0f)) / 3 * (9.0f / 7) * 1.05f);
  return lerp(clear, grey, weather.overcast);
}

}  // namespace mpm::scene
