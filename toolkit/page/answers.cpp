// SPDX-License-Identifier: Apache-2.0
#include "page/answers.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/number_text.h"
#include "base/visible_text.h"
#include "charts/svg.h"
#include "monitor/statistics/day_night.h"
#include "monitor/store/bucket.h"
#include "vision/time.h"

namespace mpm::page {

using namespace monitor;
using charts::ChartDrawing;

namespace {

constexpr int kMaxBuckets =
    300;  // of a chart that has no whole days; so a week has hours, which are read from their sums
constexpr int kMaxEvents = 200, kMaxOutages = 1000;

// One quantity, or the area of one class, of a region or of the whole picture, in one series.
struct Wanted {
  const Quantity* quantity = nullptr;
  SeriesKey key{};
  SeriesRecord of{};
};

// It over time. The buckets have three values: of all samples, by day, by night.
struct Curve : Wanted {
  Chart chart{};
  // It is shown by day and by night, not as one mean.
  bool knowsNight() const {
    return std::ranges::any_of(chart.buckets, [](const ChartBucket& bucket) {
      return bucket.values[1].samples > 0 || bucket.values[2].samples > 0;
    });
  }
};

// The value of a bucket whose samples are neither of the day nor of the night, such as those of a time before there was
// a rule; without samples in any other bucket.
Spread neither(const ChartBucket& bucket) {
  return bucket.values[1].samples == 0 && bucket.values[2].samples == 0 ? bucket.values[0] : Spread();
}

// How a drawing shall look.
struct Look {
  double width = 960;  // px
  bool dark = false;
};

Look lookIn(Request& request) {
  constexpr double kLeastWidth = 240, kMaxWidth = 4000;
  const std::string &theme = request.arguments["theme"], &wanted = request.arguments["width"];
  if (!theme.empty() && theme != "light" && theme != "dark")
    throw Refusal(400, "theme: '" + visibleText(theme) + "' is neither light nor dark");
  const auto width = wanted.empty() ? std::optional(Look().width) : readNumber<double>(wanted);
  if (!width || !(*width >= kLeastWidth && *width <= kMaxWidth))
    throw Refusal(400, "width: '" + visibleText(wanted) + "' is no number of pixels from 240 to 4000");
  return {*width, theme == "dark"};
}

std::vector<SeriesKey> valuesOf(const SeriesKey& key) {
  SeriesKey day = key, night = key;
  day.night = false;
  night.night = true;
  return {key, day, night};
}

Wanted wantedIn(const Shown& camera, Request& request) {
  static const Quantity area{.key = "", .label = "", .unit = "%", .digits = 2, .measure = nullptr};
  auto& said = request.arguments;
  Wanted result{.key = {said["quantity"], said["class"], said["region"]}};
  const SeriesKey& key = result.key;
  result.quantity = key.quantity.empty() ? &area : findQuantity(key.quantity);
  if (!result.quantity || key.quantity.empty() == key.class_name.empty())
    throw Refusal(400, "name a quantity of /api/cameras, or a class: quantity=tokens or class=car");
  const auto regions = camera.store->regions(camera.source.name);
  if (!key.region.empty() && std::ranges::none_of(regions, [&](auto& one) { return one.region.name == key.region; }))
    throw Refusal(400, "region: there is no '" + visibleText(key.region) + "'");
  result.of = seriesIn(camera, request);
  if (!key.class_name.empty() && std::ranges::count(result.of.classes, key.class_name) == 0)
    throw Refusal(400, "class: there is no '" + visibleText(key.class_name) + "'");
  return result;
}

Curve curveOf(const Shown& camera, Request& request) {
  Curve result{wantedIn(camera, request)};
  ChartQuery query{.source = camera.source.id, .from = camera.from, .to = camera.to, .series = valuesOf(result.key)};
  const bool by_days = camera.to - camera.from > 10 * kDayMs;  // a long span has whole days
  query.max_buckets = by_days ? kMaxDays : kMaxBuckets;
  query.least_ms = by_days ? kDayMs : 0;
  query.clock = camera.clock();
  query.only = result.of.id;
  result.chart = camera.store->chart(query);
  return result;
}

}  // namespace

Json series(const Shown& camera, Request& request) {
  const Curve curve = curveOf(camera, request);
  const Quantity& quantity = *curve.quantity;
  const auto row = [&](const ChartBucket& bucket) {
    const Spread& all = bucket.values[0];
    Json json = {bucket.start, bucket.gap_before, all.samples};
    for (const double value : {all.mean, all.min, all.max})
      json.push_back(all.samples ? Json(rounded(quantity, value)) : Json());
    for (const Spread& part : {bucket.values[1], bucket.values[2]})
      json.push_back(part.samples ? Json(rounded(quantity, part.mean)) : Json());
    json.push_back(bucket.middle);
    const Spread rest = neither(bucket);
    json.push_back(rest.samples ? Json(rounded(quantity, rest.mean)) : Json());
    return json;
  };
  Json json = {{"bucket_ms", curve.chart.bucket_ms}, {"unit", quantity.unit}, {"digits", quantity.meanDigits()}};
  json["series"] = curve.of.number;
  json["knows_night"] = curve.knowsNight();
  json["columns"] = {"start_ms", "gap_before", "samples", "mean", "min", "max", "day", "night", "middle_ms", "neither"};
  json["all"] = row({.start = camera.from,
                     .middle = std::midpoint(camera.from, camera.to),
                     .values = camera.store->means(curve.of, camera.from, camera.to, valuesOf(curve.key))});
  json["rows"] = Json::array();
  for (const ChartBucket& bucket : curve.chart.buckets)
    if (bucket.values[0].samples > 0) json["rows"].push_back(row(bucket));
  return json;
}

std::string chartSvg(const Shown& camera, Request& request) {
  constexpr double kNarrow = 480, kHeight = 300, kLowHeight = 250, kBandHeight = 42;
  Curve curve = curveOf(camera, request);
  const Look look = lookIn(request);
  ChartDrawing drawing{.clock = camera.clock(), .colors = charts::chartColors(look.dark)};
  const bool knows_night = curve.knowsNight();
  const bool some_neither =
      std::ranges::any_of(curve.chart.buckets, [](const ChartBucket& bucket) { return neither(bucket).samples > 0; });
  for (ChartBucket& bucket : curve.chart.buckets) {
    bucket.values = knows_night ? std::vector<Spread>{bucket.values[1], bucket.values[2], neither(bucket)}
                                : std::vector<Spread>{bucket.values[0]};
  }
  const auto add = [&](const char* name, std::uint32_t color) {
    drawing.series.push_back({.name = name,
                              .unit = curve.quantity->unit,
                              .decimals = curve.quantity->meanDigits(),
                              .joins = !drawing.series.empty(),
                              .color = color});
  };
  if (knows_night) {
    add("by day", drawing.colors.by_day);
    add("by night", drawing.colors.by_night);
    if (some_neither) add("not told apart", drawing.colors.muted);
  } else {
    add("mean", drawing.colors.series.front());
  }
  drawing.title = (curve.key.quantity.empty() ? curve.key.class_name : curve.quantity->label) +
                  (curve.key.region.empty() ? "" : " in " + curve.key.region);
  drawing.bands = chartBands(camera.store->stateChanges(curve.of.id, camera.from, camera.to),
                             camera.store->knownStates(camera.source.id),
                             camera.store->outages(camera.source.id, camera.from, camera.to, camera.source.awaited));
  drawing.chart = std::move(curve.chart);
  drawing.axis.from = static_cast<double>(camera.from) / kSecondMs;
  drawing.axis.to = static_cast<double>(camera.to) / kSecondMs;
  const double height =
      (look.width < kNarrow ? kLowHeight : kHeight) + kBandHeight * static_cast<double>(drawing.bands.size());
  return charts::chartSvg(std::move(drawing), {look.width, height});
}

std::string calendarSvg(const Shown& camera, Request& request, const std::vector<DayPicture>& pictures,
                        const std::optional<vision::GeoPosition>& place) {
  const Look look = lookIn(request);
  CalendarKey key{.states = request.arguments["states"], .state = request.arguments["state"]};
  SeriesRecord of;
  if (key.states.empty()) {
    const Wanted wanted = wantedIn(camera, request);
    key.series = wanted.key;
    of = wanted.of;
  } else {
    of = seriesIn(camera, request);
    const auto heads = camera.store->knownStates(camera.source.id);
    const auto head = heads.find(key.states);
    if (head == heads.end()) throw Refusal(400, "states: there is no '" + visibleText(key.states) + "'");
    if (!head->second.contains(key.state)) throw Refusal(400, "state: there is no '" + visibleText(key.state) + "'");
  }
  const vision::CameraClock clock = camera.clock();
  charts::CalendarDrawing calendar =
      calendarOf(*camera.store, camera.source, of, key, pictures, camera.from, camera.to);
  calendar.colors = charts::chartColors(look.dark);
  for (charts::DayCell& day : calendar.days) {
    day.text = clock.date(day.start);
    if (day.value)
      day.text += ": " + fixed(*day.value, calendar.decimals) + (calendar.unit.empty() ? "" : " " + calendar.unit);
    if (day.picture.empty()) continue;
    day.text += ", picture of " + clock.localTime(day.taken).substr(11, 5);
    if (place) day.text += ", the sun at " + fixed(sunElevation(day.taken, place->latitude, place->longitude), 0) + "°";
  }
  return charts::calendarSvg(calendar, look.width);
}

Json events(const Shown& camera) {
  Json list = Json::array();
  for (const Event& one : camera.store->events(camera.source.id, camera.from, camera.to, kMaxEvents))
    list.push_back(toJson(one));
  return list;
}

Json outages(const Shown& camera) {
  auto found = camera.store->outages(camera.source.id, camera.from, camera.to, camera.source.awaited);
  if (found.size() > kMaxOutages) found.erase(found.begin(), found.end() - kMaxOutages);
  Json list = Json::array();
  for (const Outage& one : found) list.push_back(toJson(one));
  return list;
}

Json states(const Shown& camera, Request& request) {
  Json list = Json::array();
  for (const StateSeries& one : camera.store->states(seriesIn(camera, request).id, camera.from, camera.to))
    list.push_back({{"name", one.name}, {"changes", one.changes}, {"samples", one.samples}});
  return list;
}

}  // namespace mpm::page
