// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "mpm/error.hpp"
#include "street.h"

namespace mpm::scene {
namespace {

constexpr std::array<const char*, 6> kWeatherNames = {"clear", "cloudy", "rain", "fog", "snow", "auto"};
constexpr double kFirstTime = -2208988800;  // 1900, where the formulas of the sun and the moon begin to drift
constexpr double kLastTime = 4102444800;    // 2100
constexpr std::uint64_t kMaxStreets = 10000;

[[noreturn]] void refuse(std::string_view key, std::string_view value, const std::string& allowed) {
  throw Error("demo: " + std::string(key) + "=" + std::string(value) + " is not possible: " + allowed);
}

template <class Number>
bool parseNumber(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

template <class Number>
void read(std::string_view key, std::string_view text, Number& value, const char* allowed) {
  if (!parseNumber(text, value)) refuse(key, text, allowed);
}

double parseTime(std::string_view text) {
  constexpr const char* kAllowed = "YYYY-MM-DDTHH:MM[:SS] (UTC) or seconds since 1970";
  double seconds = 0;
  if (parseNumber(text, seconds)) return seconds;
  const bool with_seconds = text.size() == 19;
  if ((text.size() != 16 && !with_seconds) || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' ||
      (with_seconds && text[16] != ':'))
    refuse("start", text, kAllowed);
  int year = 0, hour = 0, minute = 0, second = 0;
  unsigned month = 0, day = 0;
  if (!parseNumber(text.substr(0, 4), year) || !parseNumber(text.substr(5, 2), month) ||
      !parseNumber(text.substr(8, 2), day) || !parseNumber(text.substr(11, 2), hour) ||
      !parseNumber(text.substr(14, 2), minute) || (with_seconds && !parseNumber(text.substr(17, 2), second)))
    refuse("start", text, kAllowed);
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  if (!date.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
    refuse("start", text, "there is no such date or time");
  return std::chrono::sys_days(date).time_since_epoch().count() * 86400.0 + hour * 3600 + minute * 60 + second;
}

cv::Size parseSize(std::string_view text) {
  cv::Size size;
  const auto cross = text.find('x');
  if (cross == std::string_view::npos || !parseNumber(text.substr(0, cross), size.width) ||
      !parseNumber(text.substr(cross + 1), size.height))
    refuse("size", text, "WIDTHxHEIGHT in pixels, for example 640x448");
  return size;
}

Weather parseWeather(std::string_view text) {
  for (std::size_t i = 0; i < kWeatherNames.size(); ++i)
    if (text == kWeatherNames[i]) return static_cast<Weather>(i);
  refuse("weather", text, "clear, cloudy, rain, fog, snow or auto");
}

// "7", or "1..8".
void parseSeeds(std::string_view text, std::uint64_t& first, std::uint64_t& last) {
  const auto dots = text.find("..");
  const bool range = dots != std::string_view::npos;
  if (!parseNumber(text.substr(0, dots), first) || (range && !parseNumber(text.substr(dots + 2), last)))
    refuse("seed", text, "a whole number, 0 or more, or several: 1..8");
  if (!range) last = first;
  if (last < first || last - first >= kMaxStreets)
    refuse("seed", text, "ascending, and at most " + std::to_string(kMaxStreets));
}

void require(bool holds, const char* option, const char* allowed) {
  if (!holds) throw Error(std::string("demo: ") + option + " must be " + allowed);
}

}  // namespace

void StreetOptions::validate() const {
  require(std::isfinite(start) && start >= kFirstTime && start <= kLastTime, "start",
          "between the years 1900 and 2100");
  require(std::isfinite(speed) && speed >= 0 && speed <= 1e8, "speed", "in 0..100000000 (seconds of scene per second)");
  require(std::isfinite(fps) && fps > 0 && fps <= 1000, "fps", "in (0, 1000]");
  require(size.width >= 64 && size.height >= 64 && size.width <= 4096 && size.height <= 4096, "size",
          "64x64 to 4096x4096 pixels");
  require(latitude >= -90 && latitude <= 90, "latitude", "in -90..90 degrees");
  require(longitude >= -180 && longitude <= 180, "longitude", "in -180..180 degrees");
  require(shake >= 0 && shake <= 10, "shake", "in 0..10");
  require(noise >= 0 && noise <= 10, "noise", "in 0..10");
  require(jpeg >= 0 && jpeg <= 100, "jpeg", "a quality in 1..100, or 0 for none");
  require(frames >= 0, "frames", "0 (endless) or more");
  // Of an endless film the second frame at least.
  require(timeOf(frames > 0 ? frames - 1 : 1) <= kLastTime, "the time of the last frame", "before the year 2100");
}

std::vector<StreetOptions> parseStreets(const std::string& text) {
  const std::string_view all = text;
  const auto question = all.find('?');
  if (const auto name = all.substr(0, question); !name.empty() && name != "street")
    throw Error("demo: there is no scene '" + std::string(name) + "': demo:street is the one there is");
  StreetOptions options;
  std::uint64_t last_seed = options.seed;
  std::optional<double> speed, step;
  std::string_view rest = question == std::string_view::npos ? std::string_view() : all.substr(question + 1);
  while (!rest.empty()) {
    const auto end = rest.find('&');
    const std::string_view pair = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    const auto equals = pair.find('=');
    const std::string_view key = pair.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
    if (key == "seed")
      parseSeeds(value, options.seed, last_seed);
    else if (key == "start")
      options.start = parseTime(value);
    else if (key == "speed")
      read(key, value, speed.emplace(), "seconds of scene per second of film");
    else if (key == "step")
      read(key, value, step.emplace(), "seconds of scene per frame");
    else if (key == "fps")
      read(key, value, options.fps, "frames per second");
    else if (key == "size")
      options.size = parseSize(value);
    else if (key == "weather")
      options.weather = parseWeather(value);
    else if (key == "latitude")
      read(key, value, options.latitude, "degrees north, -90..90");
    else if (key == "longitude")
      read(key, value, options.longitude, "degrees east, -180..180");
    else if (key == "shake")
      read(key, value, options.shake, "a number in 0..10");
    else if (key == "noise")
      read(key, value, options.noise, "a number in 0..10");
    else if (key == "jpeg")
      read(key, value, options.jpeg, "a quality in 1..100, or 0 for none");
    else if (key == "frames")
      read(key, value, options.frames, "a whole number, 0 for endless");
    else
      throw Error("demo: there is no option '" + std::string(key) +
                  "': seed, start, speed, step, fps, size, weather, latitude, longitude, shake, noise, jpeg, frames");
  }
  if (speed && step) throw Error("demo: speed and step say the same: leave out one");
  options.speed = speed ? *speed : step ? *step * options.fps : options.speed;
  options.validate();
  if (last_seed > options.seed && options.frames == 0)
    throw Error("demo: several streets need frames=N, or the first one never ends");
  std::vector<StreetOptions> streets(last_seed - options.seed + 1, options);
  for (std::size_t i = 0; i < streets.size(); ++i) streets[i].seed += i;
  return streets;
}

StreetOptions parseStreet(const std::string& text) {
  const std::vector<StreetOptions> streets = parseStreets(text);
  if (streets.size() > 1) throw Error("demo: one street is wanted here, '" + text + "' names several");
  return streets.front();
}

std::string formatTime(double unix_time) {
  const auto seconds = static_cast<std::int64_t>(std::floor(unix_time));
  const auto days = std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(std::chrono::seconds(seconds)));
  const std::chrono::year_month_day date(days);
  const auto second_of_day = static_cast<int>(seconds - days.time_since_epoch().count() * 86400);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), second_of_day / 3600,
                second_of_day / 60 % 60, second_of_day % 60);
  return text.data();
}

}  // namespace mpm::scene
