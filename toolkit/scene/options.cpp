// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <ctime>
#include <limits>
#include <string_view>
#include <tuple>

#include "base/number_text.h"
#include "mpm/error.hpp"
#include "street.h"
#include "vision/camera_clock.h"

namespace mpm::scene {
namespace {

constexpr std::array<const char*, 6> kWeatherNames = {"clear", "cloudy", "rain", "fog", "snow", "auto"};
constexpr double kFirstTime = -2208988800;  // 1900, where the formulas of the sun and the moon begin to drift
constexpr double kLastTime = 4102444800;    // 2100
constexpr std::uint64_t kMaxStreets = 10000;

[[noreturn]] void refuse(std::string_view key, std::string_view value, const std::string& allowed) {
  throw Error("demo: " + std::string(key) + "=" + std::string(value) + " is not valid: " + allowed);
}

// Takes what is before the mark away from the text, and the mark.
std::string_view takeUntil(std::string_view& text, char mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

double parseTime(std::string_view text) {
  if (const auto seconds = readNumber<double>(text)) return *seconds;
  const std::string whole = std::string(text) + (text.size() == 16 ? ":00" : "");
  std::tm parts{};
  const char* const end = whole.size() == 19 ? ::strptime(whole.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) : nullptr;
  const UnixMs time = vision::wallTime(
      {parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec});
  const vision::CivilTime civil = vision::civilTime(time);  // where a 30th of February is in March
  if (!end || *end != '\0' || parts.tm_mday != civil.day || parts.tm_sec != civil.second)
    refuse("start", text, "no such date or time; write YYYY-MM-DDTHH:MM[:SS] (UTC) or seconds since 1970");
  return static_cast<double>(time) / kSecondMs;
}

cv::Size sizeOf(std::string_view text) {
  const auto size = readNumbers(text, 'x');
  if (!size || size->first < 1 || size->second < 1) refuse("size", text, "HEIGHTxWIDTH in pixels, for example 448x640");
  return {size->second, size->first};
}

Weather parseWeather(std::string_view text) {
  for (std::size_t i = 0; i < kWeatherNames.size(); ++i)
    if (text == kWeatherNames[i]) return static_cast<Weather>(i);
  refuse("weather", text, "clear, cloudy, rain, fog, snow or auto");
}

// "7", or "1..8".
std::pair<std::uint64_t, std::uint64_t> parseSeeds(std::string_view text) {
  const auto dots = text.find("..");
  const auto first = readNumber<std::uint64_t>(text.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : readNumber<std::uint64_t>(text.substr(dots + 2));
  if (!first || !last) refuse("seed", text, "a whole number, 0 or more, or several: 1..8");
  if (*last < *first || *last - *first >= kMaxStreets)
    refuse("seed", text, "ascending, and at most " + std::to_string(kMaxStreets));
  return {*first, *last};
}

// An option that is a number in a range.
struct Range {
  const char* key;
  double StreetOptions::*value;
  double lowest, highest;
  const char* allowed;
};
constexpr std::array<Range, 7> kRanges = {
    {{"speed", &StreetOptions::speed, 0, 1e8, "0 to 100000000 seconds of the scene per second"},
     {"fps", &StreetOptions::fps, std::numeric_limits<double>::min(), 1000, "above 0, to 1000"},
     {"latitude", &StreetOptions::latitude, -90, 90, "-90 to 90 degrees north"},
     {"longitude", &StreetOptions::longitude, -180, 180, "-180 to 180 degrees east"},
     {"shake", &StreetOptions::shake, 0, 10, "0 to 10"},
     {"noise", &StreetOptions::noise, 0, 10, "0 to 10"},
     {"variety", &StreetOptions::variety, 0, 1, "0 to 1"}}};
constexpr const char *kJpeg = "a quality of 1 to 100, or 0 for none", *kFrames = "a whole number, 0 for endless";

void require(bool holds, const char* option, const char* allowed) {
  if (!holds) throw Error(std::string("demo: ") + option + " must be " + allowed);
}

}  // namespace

void StreetOptions::validate() const {
  for (const Range& range : kRanges)
    require(this->*range.value >= range.lowest && this->*range.value <= range.highest, range.key, range.allowed);
  require(start >= kFirstTime && start <= kLastTime, "start", "between the years 1900 and 2100");
  require(std::min(size.width, size.height) >= kSmallestSide && std::max(size.width, size.height) <= kLargestSide,
          "size", "64x64 to 4096x4096 pixels");
  require(jpeg >= 0 && jpeg <= 100, "jpeg", kJpeg);
  require(frames >= 0, "frames", kFrames);
  // An endless film must have at least its second frame in range.
  require(timeOf(frames > 0 ? frames - 1 : 1) <= kLastTime, "the time of the last frame", "before the year 2100");
}

std::vector<StreetOptions> parseStreets(const std::string& text) {
  std::string_view rest = text;
  const std::string_view name = takeUntil(rest, '?');
  const bool day = name == "day";
  if (!name.empty() && name != "street" && !day)
    throw Error("demo: unknown scene '" + std::string(name) + "': there are demo:street and demo:day, a day of it");
  StreetOptions options;
  if (day) {  // about as long as its night, and the trees are green
    options.seed = 7;
    options.start = parseTime("2026-09-20T00:00");
    options.frames = 144;
  }
  std::uint64_t last_seed = options.seed;
  std::optional<double> step;
  bool has_speed = false;
  while (!rest.empty()) {
    std::string_view value = takeUntil(rest, '&');
    const std::string_view key = takeUntil(value, '=');
    const auto read = [&](auto& number, const char* allowed) {
      const auto given = readNumber<std::decay_t<decltype(number)>>(value);
      if (!given) refuse(key, value, allowed);
      number = *given;
    };
    has_speed = has_speed || key == "speed";
    if (const auto range = std::ranges::find_if(kRanges, [&](const Range& r) { return key == r.key; });
        range != kRanges.end()) {
      read(options.*range->value, range->allowed);
    } else if (key == "seed") {
      std::tie(options.seed, last_seed) = parseSeeds(value);
    } else if (key == "start") {
      options.start = parseTime(value);
    } else if (key == "step") {
      read(step.emplace(), "seconds of the scene per frame");
    } else if (key == "size") {
      options.size = sizeOf(value);
    } else if (key == "weather") {
      options.weather = parseWeather(value);
    } else if (key == "jpeg") {
      read(options.jpeg, kJpeg);
    } else if (key == "frames") {
      read(options.frames, kFrames);
    } else {
      throw Error("demo: there is no option '" + std::string(key) +
                  "': seed, start, speed, step, fps, size, weather, latitude, longitude, shake, noise, variety, jpeg, "
                  "frames");
    }
  }
  if (has_speed && step) throw Error("demo: speed and step exclude each other: give one of them");
  if (day && !has_speed && !step) step = 600;
  if (step) options.speed = *step * options.fps;
  options.validate();
  if (last_seed > options.seed && options.frames == 0)
    throw Error("demo: several streets need frames=N: without it the first one never ends");
  std::vector<StreetOptions> streets(last_seed - options.seed + 1, options);
  for (std::size_t i = 0; i < streets.size(); ++i) streets[i].seed += i;
  return streets;
}

StreetOptions parseStreet(const std::string& text) {
  const std::vector<StreetOptions> streets = parseStreets(text);
  if (streets.size() > 1) throw Error("demo: only one street is possible here, '" + text + "' names several");
  return streets.front();
}

}  // namespace mpm::scene
