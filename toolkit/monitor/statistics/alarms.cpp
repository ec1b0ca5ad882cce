// SPDX-License-Identifier: Apache-2.0
#include "monitor/statistics/alarms.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

std::string numberText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

}  // namespace

void AlarmOptions::validate() const {
  if (!(no_frame_s >= 0) || !(minutes >= 0)) throw Error("the time of an alarm must not be negative");
  if (!(hysteresis >= 0 && hysteresis < 1)) throw Error("the hysteresis of alarms lies between 0 and 1");
  for (const auto& limit : {tokens_above, tokens_below})
    if (limit && !std::isfinite(*limit)) throw Error("the limit of a token alarm must be a number");
  if (tokens_above && tokens_below && !(*tokens_below < *tokens_above))
    throw Error("the band of the token alarm is empty: its lower limit must be less than its upper one");
  for (const RegionAlarm& alarm : regions)
    for (const auto& limit : {alarm.above, alarm.below})
      if (limit && !std::isfinite(*limit)) throw Error("the limit of a region's alarm must be a number");
  for (const AreaAlarm& area : areas) {
    for (const auto& limit : {area.above, area.below})
      if (limit && !(*limit >= 0 && *limit <= 1)) throw Error("the limit of an area alarm lies between 0 and 1");
    if (area.above && area.below && !(*area.below < *area.above))
      throw Error("the band of the area alarm of '" + area.name + "' is empty");
  }
}

std::optional<double> Alarms::Limit::valueOf(const Sample& sample) const {
  const auto* areas = &sample.areas;
  if (!region.empty()) {
    const auto found = std::find_if(sample.regions.begin(), sample.regions.end(),
                                    [&](const RegionSample& one) { return one.name == region; });
    if (found == sample.regions.end()) return std::nullopt;
    if (!label) return found->value(quantity);
    areas = &found->areas;
  }
  if (!label) return sample.tokens.empty() ? std::nullopt : std::optional(sample.tokens.back());
  for (const auto& [one, area] : *areas)
    if (one == *label) return area;
  return 0;
}

// Inside with some distance, so that a value on the limit does not end and begin an alarm with every sample.
bool Alarms::Limit::backInside(double value, double hysteresis) const {
  const double band = std::abs(limit) * hysteresis;
  return above ? value <= limit - band : value >= limit + band;
}

std::string Alarms::Limit::text(double value) const {
  return name + " " + numberText(value * scale) + unit + (above ? " above " : " below ") + numberText(limit * scale) +
         unit;
}

Alarms::Alarms(AlarmOptions options) : options_(std::move(options)) {
  options_.validate();
  const auto add = [&](const std::optional<double>& value, Limit limit) {
    if (!value) return;
    limit.limit = *value;
    limits_.push_back(std::move(limit));
  };
  add(options_.tokens_above, {.name = "tokens", .above = true});
  add(options_.tokens_below, {.name = "tokens", .above = false});
  for (const RegionAlarm& alarm : options_.regions) {
    Limit limit{.region = alarm.region, .quantity = alarm.quantity};
    if (findQuantity(alarm.quantity)) {
      limit.name = alarm.quantity + " of " + alarm.region;
    } else {
      limit.name = "area of " + alarm.quantity + " in " + alarm.region;
      limit.unit = " %";
      limit.scale = 100;
      limit.class_name = alarm.quantity;
      limit.label = -1;  // until the classes are known
    }
    add(alarm.above, limit);
    limit.above = false;
    add(alarm.below, limit);
  }
  for (const AreaAlarm& area : options_.areas) {
    Limit limit{.name = "area of " + (area.name.empty() ? "class " + std::to_string(area.label) : area.name),
                .unit = " %",
                .scale = 100,
                .class_name = area.name,
                .label = area.label};
    add(area.above, limit);
    limit.above = false;
    add(area.below, limit);
  }
}

std::vector<Event> Alarms::add(const Sample& sample, std::int64_t steady) {
  std::vector<Event> events;
  const double step = last_sample_ ? static_cast<double>(steady - *last_sample_) : 0;
  last_sample_ = steady;
  const bool gap = usual_step_ms_ > 0 && step > std::max(10000.0, 3 * usual_step_ms_);
  // A gap doubles the usual step, so samples that come more seldom from now on are soon no gaps.
  usual_step_ms_ = usual_step_ms_ == 0 ? step : 0.8 * usual_step_ms_ + 0.2 * std::min(step, 6 * usual_step_ms_);
  for (Limit& limit : limits_) {
    if (limit.rests) continue;
    if (gap && !limit.ringing) limit.outside_since.reset();  // values in the gap are unknown
    const auto known = limit.valueOf(sample);
    if (!known) continue;
    const double value = *known;
    if (limit.ringing) {
      if (!limit.backInside(value, options_.hysteresis)) continue;
      limit.ringing = false;
      limit.outside_since.reset();
      events.push_back({sample.time, EventKind::kAlarmEnded, Severity::kInfo,
                        limit.name + " back at " + numberText(value * limit.scale) + limit.unit});
    } else if (!limit.outside(value)) {
      limit.outside_since.reset();
    } else {
      if (!limit.outside_since) limit.outside_since = steady;
      if (static_cast<double>(steady - *limit.outside_since) < options_.minutes * 60000) continue;
      limit.ringing = true;
      events.push_back({sample.time, EventKind::kAlarm, Severity::kWarning,
                        limit.text(value) + " for " + numberText(options_.minutes) + " min"});
    }
  }
  return events;
}

std::vector<Event> Alarms::tick(UnixMs time, std::int64_t steady, double frame_age_s) {
  if (options_.no_frame_s <= 0) return {};
  if (!first_tick_) first_tick_ = steady;
  const double silent = frame_age_s >= 0 ? frame_age_s : static_cast<double>(steady - *first_tick_) / 1000;
  if (!no_frame_ && silent >= options_.no_frame_s) {
    no_frame_ = true;
    return {{time, EventKind::kAlarm, Severity::kWarning, "no frame for " + numberText(options_.no_frame_s) + " s"}};
  }
  if (no_frame_ && silent < options_.no_frame_s) {
    no_frame_ = false;
    return {{time, EventKind::kAlarmEnded, Severity::kInfo, "frames come again"}};
  }
  return {};
}

std::vector<Event> Alarms::setClasses(const std::vector<std::string>& names, UnixMs time) {
  std::vector<Event> events;
  for (Limit& limit : limits_) {
    if (limit.class_name.empty()) continue;
    const auto found = std::find(names.begin(), names.end(), limit.class_name);
    const bool rested = std::exchange(limit.rests, found == names.end());
    if (!limit.rests) {
      limit.label = static_cast<int>(found - names.begin());
    } else if (!rested) {
      events.push_back({time, limit.ringing ? EventKind::kAlarmEnded : EventKind::kModel, Severity::kWarning,
                        "the model has no class '" + limit.class_name + "': its alarm rests"});
      limit.ringing = false;
      limit.outside_since.reset();
    }
  }
  return events;
}

bool Alarms::ringing() const {
  for (const Limit& limit : limits_)
    if (limit.ringing) return true;
  return no_frame_;
}

std::vector<Event> Alarms::end(UnixMs time) {
  std::vector<Event> events;
  const auto ended = [&](bool& ringing, const std::string& name) {
    if (std::exchange(ringing, false))
      events.push_back({time, EventKind::kAlarmEnded, Severity::kInfo, name + " no longer watched for"});
  };
  for (Limit& limit : limits_) ended(limit.ringing, limit.name);
  ended(no_frame_, "missing frames");
  return events;
}

std::optional<Event> ReuseWatch::add(const ReuseReport& report, const Reuse& options, UnixMs time) {
  if (!report.agreement) return std::nullopt;
  const double wanted = options.agreement.value_or(kWanted);
  const std::string found =
      "reuse agrees with the full model on " + numberText(*report.agreement) + " %" + " of the pixels";
  if (*report.agreement >= wanted) {
    if (std::exchange(below_, 0) < kInARow) return std::nullopt;
    return Event{time, EventKind::kReuse, Severity::kInfo, found + ", " + numberText(wanted) + " %" + " or more again"};
  }
  if (++below_ != kInARow) return std::nullopt;
  return Event{time, EventKind::kReuse, Severity::kWarning,
               found + ", less than " + numberText(wanted) + " %" + " at " + std::to_string(kInARow) +
                   " key frames in a row: " +
                   (options.agreement   ? "no threshold is low enough here, turn reuse off"
                    : options.threshold ? "choose a lower threshold, or turn reuse off"
                                        : "let agreement= steer the threshold, or turn reuse off")};
}

}  // namespace mpm::monitor
