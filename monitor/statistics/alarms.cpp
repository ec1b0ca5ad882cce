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

// One limit on one value, in one direction.
struct Limit {
  std::string name{};  // "tokens", "area of car"
  std::string unit{};  // " %"
  double scale = 1;    // of the value in messages
  double limit = 0;
  bool above = true;
  std::string class_name{};    // empty: tokens, or a class that has only a number
  std::optional<int> label{};  // class; nullopt: tokens
  bool rests = false;          // the model does not have the class

  std::optional<std::int64_t> outside_since{};
  bool ringing = false;

  bool outside(double value) const { return above ? value > limit : value < limit; }
  // Inside with some distance, so that a value on the limit does not end and begin an alarm with every sample.
  bool backInside(double value, double hysteresis) const {
    const double band = std::abs(limit) * hysteresis;
    return above ? value <= limit - band : value >= limit + band;
  }
  std::string text(double value) const {
    return name + " " + numberText(value * scale) + unit + (above ? " above " : " below ") + numberText(limit * scale) +
           unit;
  }
};

}  // namespace

void AlarmOptions::validate() const {
  if (!(no_frame_s >= 0) || !(minutes >= 0)) throw Error("the time of an alarm must not be negative");
  if (!(hysteresis >= 0 && hysteresis < 1)) throw Error("the hysteresis of alarms lies between 0 and 1");
  for (const auto& limit : {tokens_above, tokens_below})
    if (limit && !std::isfinite(*limit)) throw Error("the limit of a token alarm must be a number");
  if (tokens_above && tokens_below && !(*tokens_below < *tokens_above))
    throw Error("the band of the token alarm is empty: its lower limit must be less than its upper one");
  for (const AreaAlarm& area : areas) {
    for (const auto& limit : {area.above, area.below})
      if (limit && !(*limit >= 0 && *limit <= 1)) throw Error("the limit of an area alarm lies between 0 and 1");
    if (area.above && area.below && !(*area.below < *area.above))
      throw Error("the band of the area alarm of '" + area.name + "' is empty");
  }
}

struct Alarms::Impl {
  AlarmOptions options;
  std::vector<Limit> limits;
  std::optional<std::int64_t> last_sample;  // steady
  double usual_step_ms = 0;
  bool no_frame = false;
  std::optional<std::int64_t> first_tick;
};

Alarms::Alarms(AlarmOptions options) : impl_(std::make_unique<Impl>()) {
  options.validate();
  const auto add = [&](const std::optional<double>& value, Limit limit) {
    if (!value) return;
    limit.limit = *value;
    impl_->limits.push_back(std::move(limit));
  };
  add(options.tokens_above, {.name = "tokens", .above = true});
  add(options.tokens_below, {.name = "tokens", .above = false});
  for (const AreaAlarm& area : options.areas) {
    Limit limit{.name = "area of " + (area.name.empty() ? "class " + std::to_string(area.label) : area.name),
                .unit = " %",
                .scale = 100,
                .class_name = area.name,
                .label = area.label};
    add(area.above, limit);
    limit.above = false;
    add(area.below, limit);
  }
  impl_->options = std::move(options);
}

Alarms::~Alarms() = default;
Alarms::Alarms(Alarms&&) noexcept = default;
Alarms& Alarms::operator=(Alarms&&) noexcept = default;

std::vector<Event> Alarms::add(const Sample& sample, std::int64_t steady) {
  std::vector<Event> events;
  const double step = impl_->last_sample ? static_cast<double>(steady - *impl_->last_sample) : 0;
  impl_->last_sample = steady;
  const bool gap = impl_->usual_step_ms > 0 && step > std::max(10000.0, 3 * impl_->usual_step_ms);
  if (!gap) impl_->usual_step_ms = impl_->usual_step_ms == 0 ? step : 0.8 * impl_->usual_step_ms + 0.2 * step;
  for (Limit& limit : impl_->limits) {
    if (limit.rests) continue;
    if (gap && !limit.ringing) limit.outside_since.reset();  // nobody knows what was in between
    double value = 0;
    if (!limit.label) {
      if (sample.tokens.empty()) continue;
      value = sample.tokens.back();
    } else {
      for (const auto& [label, area] : sample.areas)
        if (label == *limit.label) value = area;
    }
    if (limit.ringing) {
      if (!limit.backInside(value, impl_->options.hysteresis)) continue;
      limit.ringing = false;
      limit.outside_since.reset();
      events.push_back({sample.time, EventKind::kAlarmEnded, Severity::kInfo,
                        limit.name + " back at " + numberText(value * limit.scale) + limit.unit});
    } else if (!limit.outside(value)) {
      limit.outside_since.reset();
    } else {
      if (!limit.outside_since) limit.outside_since = steady;
      if (static_cast<double>(steady - *limit.outside_since) < impl_->options.minutes * 60000) continue;
      limit.ringing = true;
      events.push_back({sample.time, EventKind::kAlarm, Severity::kWarning,
                        limit.text(value) + " for " + numberText(impl_->options.minutes) + " min"});
    }
  }
  return events;
}

std::vector<Event> Alarms::tick(UnixMs time, std::int64_t steady, double frame_age_s) {
  if (impl_->options.no_frame_s <= 0) return {};
  if (!impl_->first_tick) impl_->first_tick = steady;
  const double silent = frame_age_s >= 0 ? frame_age_s : static_cast<double>(steady - *impl_->first_tick) / 1000;
  if (!impl_->no_frame && silent >= impl_->options.no_frame_s) {
    impl_->no_frame = true;
    return {
        {time, EventKind::kAlarm, Severity::kWarning, "no frame for " + numberText(impl_->options.no_frame_s) + " s"}};
  }
  if (impl_->no_frame && silent < impl_->options.no_frame_s) {
    impl_->no_frame = false;
    return {{time, EventKind::kAlarmEnded, Severity::kInfo, "frames come again"}};
  }
  return {};
}

std::vector<Event> Alarms::setClasses(const std::vector<std::string>& names, UnixMs time) {
  std::vector<Event> events;
  for (Limit& limit : impl_->limits) {
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
  for (const Limit& limit : impl_->limits)
    if (limit.ringing) return true;
  return impl_->no_frame;
}

std::vector<Event> Alarms::end(UnixMs time) {
  std::vector<Event> events;
  const auto ended = [&](bool& ringing, const std::string& name) {
    if (std::exchange(ringing, false))
      events.push_back({time, EventKind::kAlarmEnded, Severity::kInfo, name + " no longer watched for"});
  };
  for (Limit& limit : impl_->limits) ended(limit.ringing, limit.name);
  ended(impl_->no_frame, "missing frames");
  return events;
}

}  // namespace mpm::monitor
