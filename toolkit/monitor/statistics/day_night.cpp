// SPDX-License-Identifier: Apache-2.0
#include "monitor/statistics/day_night.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <string_view>

#include "base/number_text.h"
#include "base/quantiles.h"
#include "evaluation/statistics.h"
#include "mpm/error.hpp"
#include "vision/astronomy.h"

namespace mpm::monitor {
namespace {

int minuteOfDay(UnixMs time, const vision::CameraClock& clock) {
  const vision::CivilTime shown = vision::civilTime(clock.wall(time));
  return shown.hour * 60 + shown.minute;
}

constexpr int kPeriodsNeeded = 3;
constexpr double kStray = 0.05;  // of an hour's samples

void addCounts(evaluation::Block& block, const auto& occurrences) {
  for (const auto& [tokens, count] : occurrences) {
    block.sum += tokens * static_cast<double>(count);
    block.samples += count;
  }
}

// Without the hours that hold next to none of their samples on this side: a car's light makes no day of a night.
std::vector<evaluation::Block> hourBlocks(const std::vector<const HourOfTokens*>& hours,
                                          const std::map<UnixMs, std::int64_t>& samples_of_both) {
  std::vector<evaluation::Block> blocks;
  for (const HourOfTokens* hour : hours) {
    if (blocks.empty() || blocks.back().start != hour->start) blocks.push_back({.start = hour->start});
    addCounts(blocks.back(), hour->occurrences);
  }
  std::erase_if(blocks, [&](const evaluation::Block& block) {
    return static_cast<double>(block.samples) <= kStray * static_cast<double>(samples_of_both.at(block.start));
  });
  return blocks;
}

// The time of the day, in ms of UTC, around which these days lie, and from which these nights are farthest.
double noonOf(const std::vector<evaluation::Block>& day_hours, const std::vector<evaluation::Block>& night_hours) {
  constexpr double kTurn = 2 * 3.14159265358979323846 / kDayMs;
  double x = 0, y = 0;
  const auto add = [&](const std::vector<evaluation::Block>& hours, double sign) {
    for (const evaluation::Block& hour : hours) {
      const double angle = kTurn * static_cast<double>(hour.start + kHourMs / 2);
      x += sign * std::cos(angle);
      y += sign * std::sin(angle);
    }
  };
  add(day_hours, 1);
  add(night_hours, -1);
  return std::round(std::atan2(y, x) / kTurn);
}

// One block per 24 hours from `cut`, the time of the day in the middle of the other side.
std::vector<evaluation::Block> periodBlocks(const std::vector<evaluation::Block>& hours, double cut) {
  std::vector<evaluation::Block> periods;
  double last = 0;
  for (const evaluation::Block& hour : hours) {
    const double period = std::floor((static_cast<double>(hour.start + kHourMs / 2) - cut) / kDayMs);
    if (periods.empty() || period != last) periods.push_back({.start = hour.start});
    periods.back().sum += hour.sum;
    periods.back().samples += hour.samples;
    last = period;
  }
  return periods;
}

std::map<double, std::int64_t> pool(const std::vector<const HourOfTokens*>& hours) {
  std::map<double, std::int64_t> all;
  for (const HourOfTokens* hour : hours)
    for (const auto& [tokens, count] : hour->occurrences) all[tokens] += count;
  return all;
}

std::optional<double> changeSinceYesterday(const std::vector<const HourOfTokens*>& hours, UnixMs now) {
  evaluation::Block today, yesterday;
  for (const HourOfTokens* hour : hours) {
    const UnixMs age = now - hour->start;
    if (age > 0 && age <= 2 * kDayMs) addCounts(age <= kDayMs ? today : yesterday, hour->occurrences);
  }
  if (today.samples == 0 || yesterday.samples == 0) return std::nullopt;
  return today.mean() - yesterday.mean();
}

// The numbers between these words, with the first of which the text begins, and with the last of which it ends. Empty:
// it is another text.
std::vector<double> numbersBetween(std::string_view text, std::initializer_list<std::string_view> words) {
  std::vector<double> numbers;
  if (!text.starts_with(*words.begin())) return {};
  text.remove_prefix(words.begin()->size());
  for (const auto* word = words.begin() + 1; word != words.end(); ++word) {
    const std::size_t end = word->empty() ? text.size() : text.find(*word);
    const auto number = end == std::string_view::npos ? std::nullopt : readNumber<double>(text.substr(0, end));
    if (!number) return {};
    numbers.push_back(*number);
    text.remove_prefix(end + word->size());
  }
  return text.empty() ? numbers : std::vector<double>();
}

}  // namespace

double sunElevation(UnixMs time, double latitude, double longitude) {
  return vision::sunPosition(static_cast<double>(time) / kSecondMs, latitude, longitude).elevation;
}

NightByHours parseNightHours(const std::string& text) {
  int from_hour = 0, from_minute = 0, to_hour = 0, to_minute = 0, end = -1;
  if (std::sscanf(text.c_str(), "%2d:%2d-%2d:%2d%n", &from_hour, &from_minute, &to_hour, &to_minute, &end) != 4 ||
      end != static_cast<int>(text.size()) || from_minute < 0 || from_minute > 59 || to_minute < 0 || to_minute > 59)
    throw Error("'" + text + "' is not FROM-TO as hours and minutes, for example 21:00-06:30");
  const NightByHours hours{from_hour * 60 + from_minute, to_hour * 60 + to_minute};
  validate(hours);
  return hours;
}

std::string clockText(int minutes) {
  char text[32];
  std::snprintf(text, sizeof text, "%02d:%02d", minutes / 60, minutes % 60);
  return text;
}

std::string toText(const NightRule& rule) {
  if (const auto* sun = std::get_if<NightBySun>(&rule)) {
    return "the sun is below " + numberText(sun->night_below) + " degrees at " + numberText(sun->latitude) +
           " north, " + numberText(sun->longitude) + " east";
  }
  if (const auto* brightness = std::get_if<NightByBrightness>(&rule)) {
    return "the brightness is below " + numberText(brightness->night_below) + ", until it is above " +
           numberText(brightness->day_above);
  }
  const auto* hours = std::get_if<NightByHours>(&rule);
  if (!hours) return "";
  return "the clock shows " + clockText(hours->from) + " to " + clockText(hours->to);
}

std::optional<NightRule> readNightRule(const std::string& text) {
  if (text.empty()) return NightRule();
  const auto sun = numbersBetween(text, {"the sun is below ", " degrees at ", " north, ", " east"});
  if (!sun.empty()) return NightBySun{.latitude = sun[1], .longitude = sun[2], .night_below = sun[0]};
  const auto band = numbersBetween(text, {"the brightness is below ", ", until it is above ", ""});
  if (!band.empty()) return NightByBrightness{.night_below = band[0], .day_above = band[1]};
  const auto hours = numbersBetween(text, {"the clock shows ", ":", " to ", ":", ""});
  if (hours.empty()) return std::nullopt;
  const auto minute = [&](int i) { return static_cast<int>(60 * hours[i] + hours[i + 1]); };
  return NightByHours{minute(0), minute(2)};
}

void validate(const NightRule& rule) {
  if (const auto* sun = std::get_if<NightBySun>(&rule)) {
    if (!(std::abs(sun->latitude) <= 90)) throw Error("a latitude lies between -90 and 90 degrees");
    if (!(std::abs(sun->longitude) <= 180)) throw Error("a longitude lies between -180 and 180 degrees");
    if (!(std::abs(sun->night_below) < 90)) throw Error("the sun's elevation lies between -90 and 90 degrees");
  } else if (const auto* brightness = std::get_if<NightByBrightness>(&rule)) {
    if (!(brightness->night_below >= 0 && brightness->day_above <= 255))
      throw Error("a brightness lies between 0 and 255");
    if (!(brightness->night_below <= brightness->day_above))
      throw Error("the day must begin at a brightness not below that of the night");
  } else if (const auto* hours = std::get_if<NightByHours>(&rule)) {
    for (int minute : {hours->from, hours->to})
      if (minute < 0 || minute > 24 * 60) throw Error("an hour lies between 00:00 and 24:00");
    if (hours->from == hours->to) throw Error("a night that begins when it ends is none");
  }
}

DayNight::DayNight(NightRule rule) : rule_(rule) { validate(rule_); }

void DayNight::setRule(const NightRule& rule) {
  validate(rule);
  rule_ = rule;
}

std::optional<bool> DayNight::night(UnixMs time, double brightness) {
  const std::optional<bool> night = decide(time, brightness);
  goOn(night);
  return night;
}

std::optional<bool> DayNight::decide(UnixMs time, double brightness) const {
  if (const auto* sun = std::get_if<NightBySun>(&rule_))
    return sunElevation(time, sun->latitude, sun->longitude) < sun->night_below;
  if (const auto* hours = std::get_if<NightByHours>(&rule_)) {
    const int minute = minuteOfDay(time, vision::clockOrMachine(hours->clock));
    return hours->from < hours->to ? minute >= hours->from && minute < hours->to
                                   : minute >= hours->from || minute < hours->to;
  }
  const auto* const band = std::get_if<NightByBrightness>(&rule_);
  if (!band) return std::nullopt;
  if (brightness < band->night_below) return true;
  if (brightness > band->day_above) return false;
  return last_.value_or(brightness < (band->night_below + band->day_above) / 2);
}

Summary summarize(const std::map<double, std::int64_t>& occurrences) {
  evaluation::Block all;
  addCounts(all, occurrences);
  if (all.samples == 0) return {};
  Summary summary{.samples = all.samples, .mean = all.mean()};
  summary.min = occurrences.begin()->first;
  summary.max = occurrences.rbegin()->first;
  summary.median = quantile(occurrences, 0.5);
  summary.p90 = quantile(occurrences, 0.9);
  return summary;
}

DayNightStatistics compareDayNight(const std::vector<HourOfTokens>& hours, UnixMs now) {
  std::vector<const HourOfTokens*> sides[2];  // day, night
  for (const HourOfTokens& hour : hours) sides[hour.night].push_back(&hour);
  for (auto& side : sides) std::ranges::sort(side, [](const auto* a, const auto* b) { return a->start < b->start; });

  DayNightStatistics result;
  result.day = summarize(pool(sides[0]));
  result.night = summarize(pool(sides[1]));
  result.day_change = changeSinceYesterday(sides[0], now);
  result.night_change = changeSinceYesterday(sides[1], now);
  std::map<UnixMs, std::int64_t> samples;  // by hours
  for (const HourOfTokens& hour : hours) {
    evaluation::Block all;
    addCounts(all, hour.occurrences);
    if (all.samples > 0) samples[hour.start] += all.samples;
  }
  for (const auto& [start, count] : samples) result.hours.push_back(start);
  if (result.day.samples == 0 || result.night.samples == 0) return result;

  std::vector<evaluation::Block> day = hourBlocks(sides[0], samples), night = hourBlocks(sides[1], samples);
  Difference& difference = result.difference.emplace();
  const double noon = noonOf(day, night);
  if (std::vector<evaluation::Block> days = periodBlocks(day, noon - kDayMs / 2.0), nights = periodBlocks(night, noon);
      days.size() >= kPeriodsNeeded && nights.size() >= kPeriodsNeeded) {
    difference.block = Difference::Block::kPeriod;
    day = std::move(days);
    night = std::move(nights);
  }
  difference.day_blocks = static_cast<int>(day.size());
  difference.night_blocks = static_cast<int>(night.size());
  difference.tokens = result.night.mean - result.day.mean;
  if (day.size() < 2 || night.size() < 2) return result;
  const bool correlated = difference.block == Difference::Block::kHour;
  difference.plus_minus =
      evaluation::halfInterval(evaluation::estimateMean(day, correlated), evaluation::estimateMean(night, correlated));
  return result;
}

}  // namespace mpm::monitor
