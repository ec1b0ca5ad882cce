// SPDX-License-Identifier: Apache-2.0
#include "monitor/statistics/state_detector.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <set>
#include <utility>

#include "base/number_text.h"
#include "base/visible_text.h"
#include "monitor/statistics/region_meter.h"
#include "mpm/error.hpp"

namespace mpm::monitor {

void StateOptions::validate() const {
  if (after < 1) throw Error("a state counts after at least 1 result");
  std::set<std::string> names;
  for (const evaluation::StateHead& head : heads) {
    if (!names.insert(head.name).second)
      throw Error("two files of states are named '" + visibleText(head.name) + "': give one of them another \"name\"");
  }
}

std::map<std::string, std::string> StateOptions::digests(const std::string& model_digest) const {
  std::map<std::string, std::string> all;
  for (const evaluation::StateHead& head : heads)
    if (head.model_digest == model_digest) all[head.name] = head.digest();
  return all;
}

StateDetector::StateDetector(StateOptions options) : options_(std::move(options)) {
  options_.validate();
  for (const evaluation::StateHead& head : options_.heads) tracked_.push_back({head});
}

// The tokens that the head reads; empty: none now.
cv::Mat StateDetector::featuresOf(Tracked& tracked, const Seen& seen, std::vector<Event>& events) {
  if (!evaluation::cutOutSeconds(tracked.head.regions)) return seen.estimate.features;
  if (!seen.look) return {};
  if (tracked.look) tracked.look->take(seen.time);
  try {
    cv::Mat part = seen.image(tracked.view.part).clone();
    if (const cv::Mat hidden = seen.hidden ? seen.hidden() : cv::Mat(); !hidden.empty())
      part.setTo(0, hidden(tracked.view.part));
    return seen.look(part).features;
  } catch (const std::exception& error) {
    if (!std::exchange(tracked.failed, true)) {
      events.push_back({seen.time, EventKind::kModel, Severity::kWarning,
                        "the states of '" + tracked.head.name + "' are not read: " + error.what()});
    }
    return {};
  }
}

std::vector<StateSample> StateDetector::read(const Seen& seen, std::vector<Event>& events) {
  std::vector<StateSample> samples;
  const cv::Size picture = seen.image.size();
  for (Tracked& tracked : tracked_) {
    const evaluation::StateHead& head = tracked.head;
    if (seen.estimate.features.empty()) continue;  // of a model that is being read again with them
    if (seen.digest != head.model_digest) {
      if (!std::exchange(tracked.refused, true)) {
        events.push_back({seen.time, EventKind::kModel, Severity::kWarning,
                          "the states of '" + head.name + "' are not read: they were taught with another model, '" +
                              head.model_name + "'. Teach them again with this one"});
      }
      continue;
    }
    tracked.refused = false;
    const bool changes = std::ranges::any_of(head.regions, [](const auto& one) { return one.from || one.to; });
    if (changes || picture != tracked.picture || followsView(tracked.moved, seen.moved, picture)) {
      tracked.picture = picture;
      tracked.moved = seen.moved;
      tracked.view =
          evaluation::stateView(head.regions, picture, seen.estimate.grid, seen.time, [&](const vision::Region& one) {
            return one.ignore ? coveringMask(one, picture, seen.moved) : movedMask(one, picture, seen.moved);
          });
    }
    if (tracked.view.shares.empty()) continue;
    const auto every_s = evaluation::cutOutSeconds(head.regions);
    if (every_s && !tracked.look) tracked.look.emplace(*every_s);
    if (every_s && !tracked.look->at(seen.time)) {
      if (!tracked.last) continue;
      samples.push_back(*tracked.last);
      samples.back().look = StateLook::kRepeated;
      continue;
    }
    tracked.last.reset();
    const cv::Mat features = featuresOf(tracked, seen, events);
    if (features.empty()) continue;
    tracked.failed = false;
    const evaluation::StateReading reading =
        evaluation::readState(head, evaluation::poolTokens(features, tracked.view.shares));
    const auto look = every_s && *every_s * kSecondMs >= kMinuteMs ? StateLook::kSparse : StateLook::kOwn;
    const bool sparse = seen.sparse || look == StateLook::kSparse;
    const std::string state = head.states[static_cast<std::size_t>(reading.state)], before = tracked.count.counted();
    if (tracked.count.add(state, reading.sure, sparse, options_.after)) {
      events.push_back({seen.time, EventKind::kState, Severity::kInfo,
                        head.name + " is " + state + (before.empty() ? "" : ", was " + before) + " (" +
                            fixed(reading.probability, 3) + ")"});
    }
    samples.push_back({.name = head.name,
                       .state = state,
                       .probability = reading.probability,
                       .sure = reading.sure,
                       .counted = tracked.count.counted(),
                       .look = look});
    if (every_s) tracked.last = samples.back();
  }
  return samples;
}

void StateDetector::resume(const std::vector<StateSample>& samples) {
  for (const StateSample& one : samples) {
    for (Tracked& tracked : tracked_) {
      if (tracked.head.name != one.name) continue;
      const bool counts = tracked.head.indexOf(one.counted) >= 0;
      tracked.count.goOn(one.state, one.sure && one.look != StateLook::kRepeated, counts ? one.counted : "");
    }
  }
}

}  // namespace mpm::monitor
