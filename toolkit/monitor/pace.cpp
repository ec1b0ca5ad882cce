// SPDX-License-Identifier: Apache-2.0
#include "monitor/pace.h"

#include <cmath>
#include <iterator>
#include <utility>

#include "base/number_text.h"

namespace mpm::monitor {
namespace {

constexpr double kDayS = static_cast<double>(kDayMs) / kSecondMs;
constexpr double kShortNightS =
    2 * static_cast<double>(kHourMs) / kSecondMs;  // the shortest that an archive pauses for

// Three of four values are not above it.
double upperQuartile(const std::vector<double>& sorted) { return sorted[(sorted.size() - 1) * 3 / 4]; }

Pace paceAt(const std::vector<StoredStep>& steps, const std::vector<double>& usual, std::size_t step) {
  return {std::max(steps[step].every_s, usual[step])};
}

// Whether pictures are unusual at that time of day: on most of the days around, none lies near the time of the middle
// of this pause. A day on which pictures come at their usual pace has one there.
bool isNightlyPause(std::size_t pause, const std::vector<double>& starts, const std::vector<StoredStep>& steps,
                    const std::vector<double>& usual) {
  constexpr int kDaysAround = 7;  // before and after: nights are longer in another season
  const double middle = (starts[pause] + steps[pause].width_s + starts[pause + 1]) / 2;
  const double around = 0.75 * paceAt(steps, usual, pause).usual_s;
  int days = 0, with_pictures = 0;
  for (int day = -kDaysAround; day <= kDaysAround; ++day) {
    const double time = middle + day * kDayS;
    if (day == 0 || time < 0 || time > starts.back()) continue;
    ++days;
    const auto after = std::ranges::upper_bound(starts, time + around);
    const auto last = static_cast<std::size_t>(after - starts.begin()) - 1;
    with_pictures += starts[last] + (last < steps.size() ? steps[last].width_s : 0) >= time - around;
  }
  return with_pictures == 0 || 2 * with_pictures < days;
}

std::string secondsText(double seconds) { return numberText(std::round(seconds * 10) / 10); }

}  // namespace

bool PaceMeter::add(double step_s) {
  const bool gap = (every_s_ > 0 || !steps_.empty()) && step_s > pace().gapAfter();
  steps_.push_back(step_s);
  if (steps_.size() > kSteps) steps_.pop_front();
  return gap;
}

// A few steps say little: one may be a gap, or a clock that was wrong.
Pace PaceMeter::pace() const {
  if (steps_.empty() || (every_s_ > 0 && !known())) return {every_s_};
  std::vector<double> sorted(steps_.begin(), steps_.end());
  std::ranges::sort(sorted);
  return {std::max(every_s_, upperQuartile(sorted))};
}

std::vector<double> usualSteps(const std::vector<StoredStep>& steps) {
  std::vector<double> all, usual;
  for (const StoredStep& step : steps) all.push_back(step.seconds / std::max(step.samples, 1.0));
  const std::size_t many = std::min(PaceMeter::kSteps, all.size());
  std::vector<double> around(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(many));  // sorted
  std::ranges::sort(around);
  for (std::size_t i = 0, from = 0; i < all.size(); ++i) {
    // One step on, one value goes and one comes: a year has a million of them.
    for (const std::size_t next = std::min(i - std::min(i, many / 2), all.size() - many); from < next; ++from) {
      around.erase(std::ranges::lower_bound(around, all[from]));
      around.insert(std::ranges::upper_bound(around, all[from + many]), all[from + many]);
    }
    usual.push_back(upperQuartile(around));
  }
  return usual;
}

std::vector<bool> findGaps(const std::vector<StoredStep>& steps, const std::vector<double>& usual, bool archive) {
  std::vector<bool> gaps(steps.size());
  std::vector<double> starts = {0};  // of the stretches, and of the last sample
  for (std::size_t i = 0; i < steps.size(); ++i) {
    gaps[i] = steps[i].seconds - steps[i].width_s > paceAt(steps, usual, i).gapAfter();
    starts.push_back(starts.back() + steps[i].seconds);
  }
  if (!archive) return gaps;
  std::vector<std::size_t> nights;
  double seconds = 0;  // without the winter of a camera that works in summer
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].seconds - steps[i].width_s > kDayS) continue;
    seconds += steps[i].seconds;
    if (gaps[i] && steps[i].seconds >= kShortNightS && isNightlyPause(i, starts, steps, usual)) nights.push_back(i);
  }
  if (2 * static_cast<double>(nights.size()) >= seconds / kDayS)
    for (const std::size_t night : nights) gaps[night] = false;
  return gaps;
}

std::optional<std::string> SlowPaceDetector::look(const std::vector<Reached>& cameras, std::int64_t steady) {
  const double limit = slow_ ? 1.5 : 2;  // once slow, a pace on the limit is no news
  std::int64_t slow = 0;
  Reached slowest;
  for (const Reached& one : cameras) {
    if (one.every_s <= 0 || one.usual_s <= limit * one.every_s) continue;
    ++slow;
    if (one.usual_s > slowest.usual_s) slowest = one;
  }
  if ((slow > 0) == slow_) {
    since_.reset();
    return std::nullopt;
  }
  // The others take their turns within this time.
  if (!since_) since_ = steady;
  const double patience_s = slow_ ? 600 : 2 * slowest.usual_s;
  if (static_cast<double>(steady - *since_) < patience_s * kSecondMs) return std::nullopt;
  since_.reset();
  slow_ = slow > 0;
  if (!slow_) return std::exchange(told_, false) ? std::optional("samples come in time again") : std::nullopt;
  if (said_ && steady - *said_ < kDayMs) return std::nullopt;
  told_ = true;
  said_ = steady;
  const std::int64_t all = static_cast<std::int64_t>(cameras.size());
  return (all == 1 ? "a sample comes" : std::to_string(slow) + " of " + counted(all, "camera") + " get a sample") +
         " in " + secondsText(slowest.usual_s) + " s in place of " + secondsText(slowest.every_s) + ": raise 'every'";
}

}  // namespace mpm::monitor
