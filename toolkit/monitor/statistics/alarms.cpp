// SPDX-License-Identifier: Apache-2.0
#include "monitor/statistics/alarms.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/number_text.h"
#include "base/visible_text.h"
#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

// Four digits; more of a large number, which would have an exponent.
std::string shortText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, std::abs(value) < 9999.5 ? "%.4g" : "%.0f", value);
  return text;
}

}  // namespace

Alarm parseAlarm(const std::string& text) {
  const auto refuse = [&](const std::string& why) { throw Error("'" + visibleText(text) + "' " + why); };
  const auto at = text.find_last_of("<>"), equals = text.find('=');
  const auto limit = at == std::string::npos ? std::nullopt : readNumber<double>(std::string_view(text).substr(at + 1));
  Alarm alarm;
  if (!limit && equals != std::string::npos) {
    alarm.quantity = text.substr(0, equals);
    alarm.state = text.substr(equals + 1);
    if (alarm.quantity.empty() || alarm.state.empty()) refuse("is not NAME=STATE, such as gate=open");
    return alarm;
  }
  if (!limit || !std::isfinite(*limit) || at == 0)
    refuse("is no alarm such as car>20, tree:gcc<0.35, tokens>900, no-frame>60 or gate=open");
  alarm.limit = *limit;
  alarm.above = text[at] == '>';
  alarm.quantity = text.substr(0, at);
  if (const auto colon = alarm.quantity.rfind(':'); colon != std::string::npos) {
    alarm.region = alarm.quantity.substr(0, colon);
    alarm.quantity.erase(0, colon + 1);
    if (alarm.region.empty() || alarm.quantity.empty()) refuse("is not REGION:NUMBER, such as tree:gcc<0.35");
  }
  if (alarm.quantity == kNoFrame && !(alarm.above && alarm.limit > 0 && alarm.region.empty()))
    refuse("is not no-frame>SECONDS");
  const Quantity* const number = findQuantity(alarm.quantity);
  if (number && !alarm.region.empty() && !number->of_regions) refuse("is of the whole picture, not of a region");
  if (alarm.isArea() && !(alarm.limit >= 0 && alarm.limit <= 100)) refuse("is not an area from 0 to 100 percent");
  return alarm;
}

std::string toString(const Alarm& alarm) {
  if (!alarm.state.empty()) return alarm.quantity + "=" + alarm.state;
  return (alarm.region.empty() ? "" : alarm.region + ":") + alarm.quantity + (alarm.above ? ">" : "<") +
         numberText(alarm.limit);
}

void AlarmOptions::validate() const {
  if (!(minutes >= 0)) throw Error("the time of an alarm must not be negative");
  if (!(hysteresis >= 0 && hysteresis < 1)) throw Error("the hysteresis of alarms lies between 0 and 1");
  for (const Alarm& low : alarms) {
    for (const Alarm& high : alarms) {
      if (!low.above && high.above && low.region == high.region && low.quantity == high.quantity &&
          !(low.limit < high.limit)) {
        throw Error("the band of the alarms of '" + visibleText(low.quantity) +
                    "' is empty: its lower limit must be less than its upper one");
      }
    }
  }
}

std::string Alarms::Limit::name() const {
  if (!alarm.state.empty()) return alarm.quantity + " is " + alarm.state;
  if (alarm.isSilence()) return "missing frames";
  if (!alarm.isArea()) return alarm.region.empty() ? alarm.quantity : alarm.quantity + " of " + alarm.region;
  return "area of " + alarm.quantity + (alarm.region.empty() ? "" : " in " + alarm.region);
}

std::optional<double> Alarms::Limit::valueOf(const Sample& sample) const {
  const RegionSample* const part = sample.region(alarm.region);
  if (!part) return std::nullopt;
  if (!alarm.isArea()) return part->value(alarm.quantity);
  for (const auto& [one, area] : part->areas)
    if (one == label) return 100 * area;
  return 0;
}

// Inside with some distance, so that a value on the limit does not end and begin an alarm with every sample.
bool Alarms::Limit::backInside(double value, double hysteresis) const {
  const double band = std::abs(alarm.limit) * hysteresis;
  return alarm.above ? value <= alarm.limit - band : value >= alarm.limit + band;
}

std::string Alarms::Limit::text(double value) const { return shortText(value) + (alarm.isArea() ? " %" : ""); }

std::string Alarms::Limit::side() const {
  return (alarm.above ? "above " : "below ") + numberText(alarm.limit) + (alarm.isArea() ? " %" : "");
}

Alarms::Alarms(AlarmOptions options, double every_s) : options_(std::move(options)), pace_(every_s) {
  options_.validate();
  for (const Alarm& alarm : options_.alarms) limits_.push_back({.alarm = alarm});
}

std::vector<Event> Alarms::add(const Sample& sample, std::int64_t steady) {
  std::vector<Event> events;
  const auto before = std::exchange(last_sample_, steady);
  const bool gap = before && pace_.add(static_cast<double>(steady - *before) / kSecondMs);
  for (Limit& limit : limits_) {
    for (const StateSample& one : sample.states) {
      if (limit.alarm.state.empty() || one.name != limit.alarm.quantity || one.counted.empty()) continue;
      const bool rings = one.counted == limit.alarm.state;
      if (rings && !limit.ringing) limit.since = sample.time;
      if (std::exchange(limit.ringing, rings) != rings) {
        events.push_back({sample.time, rings ? EventKind::kAlarm : EventKind::kAlarmEnded,
                          rings ? Severity::kWarning : Severity::kInfo, one.name + " is " + one.counted});
      }
    }
    if (!limit.alarm.ofSamples() || (limit.alarm.isArea() && !limit.label)) continue;
    if (gap && !limit.ringing) limit.outside_since.reset();  // values in the gap are unknown
    const auto value = limit.valueOf(sample);
    if (!value) continue;
    if (limit.ringing) {
      if (!limit.backInside(*value, options_.hysteresis)) continue;
      limit.ringing = false;
      limit.outside_since.reset();
      events.push_back({sample.time, EventKind::kAlarmEnded, Severity::kInfo,
                        limit.name() + " back at " + limit.text(*value) + ", no longer " + limit.side()});
    } else if (!limit.outside(*value)) {
      limit.outside_since.reset();
    } else {
      if (!limit.outside_since) {
        limit.outside_since = steady;
        limit.since = sample.time;
      }
      if (static_cast<double>(steady - *limit.outside_since) < options_.minutes * 60000) continue;
      limit.ringing = true;
      events.push_back({sample.time, EventKind::kAlarm, Severity::kWarning,
                        limit.name() + " " + limit.text(*value) + " " + limit.side() + " for " +
                            shortText(options_.minutes) + " min"});
    }
  }
  return events;
}

std::vector<Event> Alarms::tick(UnixMs time, std::int64_t steady, double frame_age_s) {
  std::vector<Event> events;
  if (!first_tick_) first_tick_ = steady;
  const bool none_yet = frame_age_s < 0;
  const double silent = none_yet ? static_cast<double>(steady - *first_tick_) / kSecondMs : frame_age_s;
  for (Limit& limit : limits_) {
    if (!limit.alarm.isSilence()) continue;
    const bool rings = silent >= limit.alarm.limit || (none_yet && limit.ringing);  // what rang before a restart
    if (std::exchange(limit.ringing, rings) == rings) continue;
    if (rings) limit.since = time;
    events.push_back(rings ? Event{time, EventKind::kAlarm, Severity::kWarning,
                                   "no frame for " + shortText(limit.alarm.limit) + " s"}
                           : Event{time, EventKind::kAlarmEnded, Severity::kInfo, "frames come again"});
  }
  return events;
}

void Alarms::Limit::rest(std::optional<Event> why, std::vector<Event>& events) {
  if (std::exchange(rested, why.has_value()) || !why) return;
  if (std::exchange(ringing, false)) why->kind = EventKind::kAlarmEnded;
  outside_since.reset();
  events.push_back(std::move(*why));
}

std::vector<Event> Alarms::setClasses(const std::vector<std::string>& names, UnixMs time) {
  std::vector<Event> events;
  for (Limit& limit : limits_) {
    if (!limit.alarm.isArea()) continue;
    const auto found = std::ranges::find(names, limit.alarm.quantity);
    limit.label = found == names.end() ? std::nullopt : std::optional(static_cast<int>(found - names.begin()));
    const Event none{time, EventKind::kModel, Severity::kWarning,
                     "the model has no class '" + limit.alarm.quantity + "': its alarm rests"};
    limit.rest(limit.label ? std::nullopt : std::optional(none), events);
  }
  return events;
}

std::vector<Event> Alarms::setRegions(const std::vector<std::string>& names, UnixMs time) {
  std::vector<Event> events;
  for (Limit& limit : limits_) {
    if (limit.alarm.region.empty()) continue;
    const Event none{time, EventKind::kSource, Severity::kWarning,
                     "no region '" + limit.alarm.region + "' is measured: its alarm rests"};
    const bool there = std::ranges::find(names, limit.alarm.region) != names.end();
    limit.rest(there ? std::nullopt : std::optional(none), events);
  }
  return events;
}

std::vector<Event> Alarms::setHeads(const std::map<std::string, std::string>& heads, UnixMs time) {
  std::vector<Event> events;
  for (Limit& limit : limits_) {
    if (limit.alarm.state.empty()) continue;
    const Event none{time, EventKind::kModel, Severity::kWarning,
                     "the states of '" + limit.alarm.quantity + "' are not read: its alarm rests"};
    limit.rest(heads.contains(limit.alarm.quantity) ? std::nullopt : std::optional(none), events);
  }
  return events;
}

Event Alarms::takenOut(const std::string& name, UnixMs time) {
  return {time, EventKind::kAlarmEnded, Severity::kInfo, name + " no longer watched for"};
}

// What Limit::name() says of an alarm that was stored.
std::string Alarms::nameOf(const std::string& rule) try {
  return Limit{.alarm = parseAlarm(rule)}.name();
} catch (const Error&) {  // another version wrote it
  return visibleText(rule);
}

std::vector<AlarmState> Alarms::states() const {
  std::vector<AlarmState> all;
  for (const Limit& limit : limits_)
    if (limit.ringing || limit.outside_since) all.push_back({toString(limit.alarm), limit.since, limit.ringing});
  return all;
}

std::vector<Event> Alarms::resume(const std::vector<AlarmState>& states, const std::vector<UnixMs>& samples, UnixMs now,
                                  std::int64_t steady) {
  for (const UnixMs time : samples) {
    const std::int64_t at = steady - (now - time);
    if (const auto before = std::exchange(last_sample_, at))
      (void)pace_.add(static_cast<double>(at - *before) / kSecondMs);
  }
  std::vector<Event> events;
  for (const AlarmState& state : states) {
    const auto same = [&](const Limit& limit) { return toString(limit.alarm) == state.rule && !limit.rested; };
    const auto found = std::ranges::find_if(limits_, same);
    if (found != limits_.end()) {
      found->ringing = state.rings;
      found->since = state.since;
      if (found->alarm.ofSamples()) found->outside_since = steady - std::max<std::int64_t>(now - state.since, 0);
    } else if (state.rings) {
      events.push_back(takenOut(nameOf(state.rule), std::max(now, state.since)));
    }
  }
  return events;
}

std::vector<std::pair<Alarm, bool>> Alarms::ringing() const {
  std::vector<std::pair<Alarm, bool>> all;
  for (const Limit& limit : limits_) all.emplace_back(limit.alarm, limit.ringing);
  return all;
}

std::vector<Event> Alarms::follow(const Alarms& before, UnixMs time) {
  last_sample_ = before.last_sample_;
  pace_ = before.pace_;
  first_tick_ = before.first_tick_;
  std::vector<Event> events;
  for (const Limit& earlier : before.limits_) {
    const auto same = [&](const Limit& limit) { return toString(limit.alarm) == toString(earlier.alarm); };
    if (const auto found = std::ranges::find_if(limits_, same); found != limits_.end())
      *found = earlier;
    else if (earlier.ringing)
      events.push_back(takenOut(earlier.name(), time));
  }
  return events;
}

std::optional<Event> ReuseDetector::add(const ReuseReport& report, const Reuse& options, UnixMs time) {
  if (!report.agreement) return std::nullopt;
  const double wanted = options.agreement.value_or(kWanted);
  const std::string found = "reuse agrees with the full model on " + shortText(*report.agreement) + " % of the pixels";
  if (*report.agreement >= wanted) {
    if (std::exchange(below_, 0) < kInARow) return std::nullopt;
    return Event{time, EventKind::kReuse, Severity::kInfo, found + ", " + shortText(wanted) + " % or more again"};
  }
  if (++below_ != kInARow) return std::nullopt;
  return Event{time, EventKind::kReuse, Severity::kWarning,
               found + ", less than " + shortText(wanted) + " % at " + std::to_string(kInARow) +
                   " key frames in a row: " +
                   (options.agreement   ? "no threshold is low enough here, turn reuse off"
                    : options.threshold ? "choose a lower threshold, or turn reuse off"
                                        : "let agreement= steer the threshold, or turn reuse off")};
}

}  // namespace mpm::monitor
