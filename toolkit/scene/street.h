// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <vector>

/// A fixed camera on a street that does not exist: pictures and exact labels of any moment, rendered.
namespace mpm::scene {

/// The classes of the street; the value of a class is its label.
enum class Class : std::uint8_t { kSky, kBuilding, kRoad, kPavement, kTree, kPole, kCar, kPerson, kCyclist };
inline constexpr int kClasses = 9;

struct ClassStyle {
  const char* name;
  std::array<std::uint8_t, 3> rgb;
};
/// Names and colours, indexed by label; the colours stay apart to protanopes and deuteranopes, and in grey.
extern const ClassStyle kClassStyles[kClasses];

/// kAuto changes from hour to hour, as (seed, time) decide.
enum class Weather { kClear, kCloudy, kRain, kFog, kSnow, kAuto };

constexpr int kSmallestSide = 64, kLargestSide = 4096;  ///< of StreetOptions::size, px

/// Everything about the street, its sky, its camera and the film they make. docs/scene.md and mpm(1) list it for users.
struct StreetOptions {
  std::uint64_t seed = 1;     ///< the street, the camera's place and the traffic
  double start = 1782036000;  ///< unix time of frame 0, s; 2026-06-21T10:00 UTC
  double speed = 1;           ///< seconds of the scene per second of film; 0 stands still
  double fps = 25;
  cv::Size size{640, 448};  ///< px
  Weather weather = Weather::kClear;
  double latitude = 48;  ///< degrees north
  double longitude = 0;  ///< degrees east; times are UTC, so 0 has its noon near 12:00
  double shake = 1;      ///< of the camera in the wind; 0 none, 1 about 0.1 % of the width
  double noise = 1;      ///< of the sensor; 0 none, 1 a good small sensor, 2 twice its standard deviation
  double variety = 0;    ///< how far this street and its camera may differ from the usual ones; 0 not, 1 far
  int jpeg = 0;          ///< quality 1..100 of the camera's compression; 0 none
  int frames = 0;        ///< length of the film; 0 endless

  /// Throws mpm::Error naming the option and what is allowed.
  void validate() const;
  /// Unix time of a frame of the film, s.
  double timeOf(int frame) const { return start + frame * speed / fps; }
};

/// "street?seed=7&start=2026-06-21T04:00&size=448x640&weather=rain": a key per field of StreetOptions; start is
/// YYYY-MM-DDTHH:MM[:SS] (UTC) or unix seconds; step, in the place of speed, is seconds of the scene per frame. "day"
/// is a day in 144 frames: other values of seed, start, step and frames unless the text has them. Throws mpm::Error
/// naming the key and what is allowed.
StreetOptions parseStreet(const std::string& text);

/// The same, where "seed=1..8" stands for eight streets that differ in their seed: films of `frames` frames.
std::vector<StreetOptions> parseStreets(const std::string& text);

/// Facts about the moment of a picture.
struct Truth {
  double unix_time = 0;          ///< s
  double sun_elevation_deg = 0;  ///< of its centre above the flat horizon, without refraction
  double moon_elevation_deg = 0;
  double moon_illuminated = 0;  ///< share of its disc, 0..1
  bool is_night = false;        ///< the sun is more than 6 degrees down: civil twilight is over
  bool lamps_on = false;
};

struct Rendering {
  cv::Mat image;   ///< CV_8UC3 BGR
  cv::Mat labels;  ///< CV_8U, values of Class, same size; with shake they follow to half a pixel
  Truth truth;
};

/// One street through one camera. Building one takes some tenths of a second, render() some hundredths. A picture
/// depends on the options and its time alone: any order of times gives the same bytes. Not thread-safe: one per thread.
class Street {
 public:
  /// Throws mpm::Error as StreetOptions::validate().
  explicit Street(const StreetOptions& options);
  ~Street();

  /// The street at a moment, s since 1970 UTC.
  Rendering render(double unix_time);
  /// Frame i of the film; nullopt past options.frames.
  std::optional<Rendering> frame(int i);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpm::scene
