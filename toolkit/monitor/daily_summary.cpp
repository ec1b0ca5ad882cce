// SPDX-License-Identifier: Apache-2.0
#include "monitor/daily_summary.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <optional>
#include <string_view>
#include <tuple>

#include "base/number_text.h"
#include "monitor/store/averages.h"
#include "monitor/store/snapshot.h"
#include "vision/camera_clock.h"

namespace mpm::monitor {
namespace {

constexpr std::size_t kClasses = 20, kClassesInText = 3;
constexpr int kMostDays = 7;

// This hour of the day that is so many days after that of `time`.
UnixMs hourOfDay(UnixMs time, int days, double hour, const vision::CameraClock& clock) {
  const vision::CivilTime today = vision::civilTime(clock.wall(time));
  const int minute = static_cast<int>(std::lround(hour * 60));
  return clock.time(vision::wallTime({today.year, today.month, today.day + days, 0, minute}));
}

// The path of the first frame from noon on, else of the last one before; empty: there is none. Frames that show what is
// hidden by now do not count.
std::string pictureOf(const std::string& folder, const PictureOwner& owner, const PrivacyOptions& hidden, UnixMs from,
                      UnixMs noon, UnixMs to) {
  std::string path;
  try {
    for (const Snapshot& one : snapshots(folder, owner, from, to)) {
      if (readStored(one.stem).showsOf(hidden).on()) continue;
      path = one.stem + ".png";
      if (one.time >= noon) break;
    }
  } catch (const Error&) {  // there is no folder, no picture was written yet, or the disk is away
  }
  return path;
}

// Parts of the day: their keys, words, means of numbers and of areas.
using ShareOf = std::optional<double> (*)(const ClassArea&);
constexpr std::tuple<const char*, const char*, std::vector<Spread> RegionMeans::*, ShareOf> kParts[] = {
    {"all", "", &RegionMeans::values, [](const ClassArea& area) { return std::optional(area.all); }},
    {"day", "by day ", &RegionMeans::day, [](const ClassArea& area) { return area.day; }},
    {"night", "by night ", &RegionMeans::night, [](const ClassArea& area) { return area.night; }}};

// Of the day that is so many `days` before that of `now`. The message begins with its date, by which it is found again.
Event summaryOf(const StoreReader& store, const SourceRecord& source, const vision::CameraClock& clock, UnixMs now,
                int days, const std::string& pictures) {
  const UnixMs midnight = clock.startOfDay(now, -days), from = std::max(midnight, source.first),
               to = clock.startOfDay(now, 1 - days);
  const std::string date = clock.date(midnight);
  // Of the latest series that has samples of that day: the model may be another one by now.
  std::vector<RegionMeans> regions;
  std::int64_t samples = 0;
  for (auto series = store.series(source.id); regions.empty() && !series.empty(); series.pop_back()) {
    regions = regionMeans(store, series.back(), from, to);
    samples = store.count(source.id, from, to, series.back().id);
  }
  const Gaps gaps = store.gaps(source.id, from, to, now);
  const auto minutes = std::llround(static_cast<double>(gaps.total) / kMinuteMs);
  const auto alarms = std::ranges::count(store.events(source.id, from, to, INT_MAX), EventKind::kAlarm, &Event::kind);
  std::string text = date + " (" + clock.name() + "): " + counted(samples, "sample") + ", " +
                     counted(gaps.count, "gap") + (gaps.count > 0 ? " of " + counted(minutes, "minute") : "") + ", " +
                     counted(alarms, "alarm");
  Json facts = {{"date", date},       {"time_zone", clock.name()}, {"samples", samples},
                {"gaps", gaps.count}, {"gap_minutes", minutes},    {"alarms", alarms}};
  facts["picture_file"] =
      pictureOf(pictures, {.source = source.name, .database = store.id()}, readPrivacy(store.privacy(source.name)),
                from, hourOfDay(now, -days, 12, clock), to);
  const bool knows_night = knowsNight(regions),
             all_judged =
                 std::ranges::all_of(regions, [](const RegionMeans&region) { return region.notJudged() == 0; });
  for (const auto& [key, words, values, shareOf] : kParts) {
    if (key == std::string_view("all") ? knows_night && all_judged : !knows_night) continue;
    Json& json = facts[key] = Json::object();
    for (const RegionMeans& region : regions) {
      const bool whole = region.name.empty();
      Json of = Json::object();
      for (std::size_t q = 0; q < quantities().size(); ++q) {
        if (const Spread& mean = (region.*values)[q]; mean.samples > 0)
          of[quantities()[q].key] = rounded(quantities()[q], mean.mean);
      }
      if (whole && of.contains("tokens"))
        text += std::string("; ") + words + "tokens " + fixed(of["tokens"].get<double>(), 1);
      std::vector<ClassArea> areas = region.areas;
      for (ClassArea& area : areas) area.all = shareOf(area).value_or(0);  // the largest of this part
      for (std::size_t shown = 0; const ClassArea& area : largest(areas, kClasses)) {
        of["area_fraction"][area.name] = std::round(area.all * 1e4) / 1e4;
        if (whole && ++shown <= kClassesInText) text += ", " + area.name + " " + fixed(area.all * 100, 1) + " %";
      }
      if (whole)
        json.update(of);
      else if (!of.empty())
        json["regions"][region.name] = std::move(of);
    }
  }
  return {now, EventKind::kSummary, samples > 0 ? Severity::kInfo : Severity::kWarning, text, {{"summary", facts}}};
}

}  // namespace

std::vector<Event> DailySummary::due(UnixMs now, const std::string& database, const std::string& source,
                                     const std::string& pictures) {
  const int newest = now < hourOfDay(now, 0, hour_, clock_) ? 2 : 1;  // days before that of `now`
  const UnixMs end = clock_.startOfDay(now, 1 - newest);
  if (end == done_) return {};
  std::vector<Event> result;
  const StoreReader store(database);
  for (const SourceRecord& one : store.sources()) {
    if (one.name != source || one.first <= 0) continue;
    std::vector<Event> told = store.events(one.id, 0, now + kDayMs, INT_MAX);
    std::erase_if(told, [](const Event& event) { return event.kind != EventKind::kSummary; });
    const UnixMs first = clock_.startOfDay(std::max(since_, one.first), since_ > one.first ? -1 : 0);
    for (int days = newest; days < newest + kMostDays; ++days) {
      const UnixMs midnight = clock_.startOfDay(now, -days);
      if (clock_.startOfDay(now, 1 - days) <= one.first || (told.empty() && days > newest && midnight < first)) break;
      const auto isOfThisDay = [&](const Event& event) { return event.message.starts_with(clock_.date(midnight)); };
      if (std::ranges::any_of(told, isOfThisDay)) break;
      result.push_back(summaryOf(store, one, clock_, now, days, pictures));
    }
  }
  std::ranges::reverse(result);
  done_ = end;
  return result;
}

}  // namespace mpm::monitor
