// SPDX-License-Identifier: Apache-2.0
#include "monitor/statistics/state_watch.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/number_text.h"
#include "base/visible_text.h"
#include "monitor/statistics/region_meter.h"
#include "monitor/statistics/view_motion.h"
#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

bool lastsForever(const std::vector<vision::Region>& regions) {
  return std::none_of(regions.begin(), regions.end(), [](const vision::Region& one) { return one.from || one.to; });
}

}  // namespace

void StateOptions::validate() const {
  if (after < 1) throw Error("a state counts after at least 1 result");
  std::set<std::string> names;
  for (const evaluation::StateHead& head : heads)
    if (!names.insert(head.name).second)
      throw Error("two files of states are named '" + visibleText(head.name) + "': give one of them another \"name\"");
  for (const auto& [name, state] : alarms) {
    const auto head = std::find_if(heads.begin(), heads.end(), [&](const auto& one) { return one.name == name; });
    if (head == heads.end()) throw Error("no states are named '" + visibleText(name) + "', which an alarm is for");
    if (head->indexOf(state) < 0)
      throw Error("'" + visibleText(name) + "' has no state '" + visibleText(state) + "', which an alarm is for");
  }
}

StateWatch::StateWatch(StateOptions options) : options_(std::move(options)) {
  options_.validate();
  for (const evaluation::StateHead& head : options_.heads) watched_.push_back({head});
}

std::vector<StateSample> StateWatch::read(const Estimate& estimate, const std::string& digest, cv::Size picture,
                                          UnixMs time, const ViewMotion& moved, std::vector<Event>& events,
                                          bool sparse) {
  std::vector<StateSample> samples;
  for (Watched& watched : watched_) {
    const evaluation::StateHead& head = watched.head;
    if (estimate.features.empty()) continue;  // of a model that is being read again with them
    if (digest != head.model_digest) {
      if (!std::exchange(watched.refused, true))
        events.push_back({time, EventKind::kModel, Severity::kWarning,
                          "the states of '" + head.name + "' are not read: they were taught with another model, '" +
                              head.model_name + "'. Teach them again with this one"});
      continue;
    }
    watched.refused = false;
    if (picture != watched.picture || followsView(watched.moved, moved, picture) || !lastsForever(head.regions)) {
      watched.picture = picture;
      watched.moved = moved;
      watched.shares =
          evaluation::patchShares(head.regions, picture, estimate.grid, time,
                                  [&](const vision::Region& one) { return movedMask(one, picture, moved); });
    }
    if (watched.shares.empty()) continue;
    const evaluation::StateReading reading =
        evaluation::readState(head, evaluation::poolTokens(estimate.features, watched.shares));
    const int before = watched.counted;
    if (reading.sure) {
      watched.results = std::exchange(watched.candidate, reading.state) == reading.state ? watched.results + 1 : 1;
      if ((sparse || watched.results >= options_.after) && reading.state != watched.counted)
        change(watched, reading, time, events);
    }
    const auto nameOf = [&](int state) {
      return state < 0 ? std::string() : head.states[static_cast<std::size_t>(state)];
    };
    samples.push_back({.name = head.name,
                       .state = nameOf(reading.state),
                       .probability = reading.probability,
                       .sure = reading.sure,
                       .counted = nameOf(watched.counted),
                       .changed = std::exchange(watched.fresh, false) || watched.counted != before});
  }
  return samples;
}

void StateWatch::change(Watched& watched, const evaluation::StateReading& reading, UnixMs time,
                        std::vector<Event>& events) const {
  const evaluation::StateHead& head = watched.head;
  const int before = std::exchange(watched.counted, reading.state);
  const std::string& now = head.states[static_cast<std::size_t>(reading.state)];
  const std::string was = before < 0 ? "" : head.states[static_cast<std::size_t>(before)];
  const auto rings = [&](const std::string& state) {
    return std::find(options_.alarms.begin(), options_.alarms.end(), std::pair(head.name, state)) !=
           options_.alarms.end();
  };
  const std::string text =
      head.name + " is " + now + (was.empty() ? "" : ", was " + was) + " (" + fixed(reading.probability, 3) + ")";
  if (!was.empty() && rings(was)) events.push_back({time, EventKind::kAlarmEnded, Severity::kInfo, text});
  if (rings(now)) events.push_back({time, EventKind::kAlarm, Severity::kWarning, text});
  if ((was.empty() || !rings(was)) && !rings(now)) events.push_back({time, EventKind::kState, Severity::kInfo, text});
}

}  // namespace mpm::monitor
