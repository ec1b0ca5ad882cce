// SPDX-License-Identifier: Apache-2.0
#include "page/page.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "base/atomic_file.h"
#include "base/number_text.h"
#include "base/visible_text.h"
#include "charts/svg.h"
#include "monitor/statistics/day_night.h"
#include "monitor/store/bucket.h"
#include "monitor/store/calendar.h"
#include "monitor/store/snapshot.h"
#include "monitor/store/store.h"
#include "mpm/error.hpp"
#include "mpm/version.hpp"
#include "vision/camera_clock.h"
#include "vision/pictures/estimate_files.h"
#include "vision/pictures/pictures.h"
#include "vision/regions/region.h"
#include "vision/time.h"

namespace mpm::page {
namespace {

using namespace monitor;
using charts::ChartDrawing;

constexpr int kMaxDays = 400;     // of a chart
constexpr int kMaxBuckets = 300;  // of one that has no whole days; so a week has hours, which are read from their sums
constexpr int kSmallWidth = 800;  // px, of a picture that a phone loads quickly
constexpr int kThumbWidth = 128;  // px, of a picture of a day in a calendar
constexpr std::size_t kMaxThumbs = 4000;  // that are kept in memory: some kilobytes each
constexpr int kMaxPictures = 48, kMaxEvents = 200, kMaxOutages = 1000;
constexpr std::size_t kMaxCameras = 500;  // that are stored and that nobody watches here
constexpr std::int64_t kRestMs = 60'000;  // a slow database is not read for so long, because others wait for an answer

struct Refusal : Error {
  Refusal(int code, const std::string& why) : Error(why), status(code) {}
  int status;
};

struct Shown {
  std::string name;          // of the camera or its source; unique on the page
  const StoreReader* store;  // null: nothing is stored of a camera that this program watches
  SourceRecord source;
  std::optional<CameraStatus> live{};  // it is watched by this program
  UnixMs from = 0, to = 0;             // what is asked for
  std::optional<UnixMs> awaited{};     // StoreReader::awaited()

  vision::CameraClock clock() const { return vision::clockOrMachine(source.clock); }
  // By which clock the page shows its times: "offsets" says from when on it is how far ahead of UTC, ms.
  Json clockJson(UnixMs now) const {
    constexpr UnixMs kYear = 366 * kDayMs;
    const UnixMs first = std::max(source.first, now - 100 * kYear);
    const UnixMs last = std::max(first, std::min(std::max(source.last, now), now + kYear));
    return {{"name", clock().name()}, {"zone", clock().zone()}, {"offsets", clock().offsets(first, last)}};
  }
  PictureOwner owner() const { return {.source = source.name, .database = store ? store->id() : ""}; }
};

UnixMs timeIn(Request& request, const std::string& name, UnixMs usual) {
  const std::string& text = request.arguments[name];
  const auto time = text.empty() ? usual : vision::timeOfIso(text);
  if (!time) throw Refusal(400, name + ": '" + visibleText(text) + "' is no time such as 2026-11-03T17:04:05Z");
  return *time;
}

// "stalled": its pace says that it is not alive, and no program has ended the session. A camera that never gave a frame
// is "lost", also while its source is being opened. The clock of a scene says nothing about when its samples came.
const char* stateOf(const Shown& camera, UnixMs now) {
  const auto& [source, live] = std::tie(camera.source, camera.live);
  if (live && live->over) return live->failure.empty() ? "ended" : "lost";
  if (live) return source.last == 0 && live->session.source.in == 0 ? "lost" : live->session.word();
  if (source.archive) return "archive";
  if (!camera.store || !camera.store->running(source.id)) return "ended";
  return source.own_clock || camera.store->pace(source.id).alive(source.last, now) ? "online" : "stalled";
}

// The series of the camera that is asked for by its number; without one the latest.
SeriesRecord seriesIn(const Shown& camera, Request& request) {
  const auto all = camera.store->series(camera.source.id);
  const std::string& number = request.arguments["series"];
  for (const SeriesRecord& one : all)
    if (std::to_string(one.number) == number) return one;
  if (!number.empty() || all.empty()) throw Refusal(400, "series: there is no '" + visibleText(number) + "'");
  return all.back();
}

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

Json series(const Shown& camera, Request& request) {
  const Curve curve = curveOf(camera, request);
  const Quantity& quantity = *curve.quantity;
  const auto row = [&](UnixMs start, bool gap, UnixMs middle, const std::vector<Spread>& values) {
    const Spread& all = values[0];
    Json json = {start, gap, all.samples};
    for (const double value : {all.mean, all.min, all.max})
      json.push_back(all.samples ? Json(rounded(quantity, value)) : Json());
    for (const Spread& part : {values[1], values[2]})
      json.push_back(part.samples ? Json(rounded(quantity, part.mean)) : Json());
    json.push_back(middle);
    return json;
  };
  Json json = {{"bucket_ms", curve.chart.bucket_ms}, {"unit", quantity.unit}, {"digits", quantity.digits}};
  json["series"] = curve.of.number;
  json["knows_night"] = curve.knowsNight();
  json["columns"] = {"start_ms", "gap_before", "samples", "mean", "min", "max", "day", "night", "middle_ms"};
  json["all"] = row(camera.from, false, std::midpoint(camera.from, camera.to),
                    camera.store->means(curve.of, camera.from, camera.to, valuesOf(curve.key)));
  json["rows"] = Json::array();
  for (const ChartBucket& bucket : curve.chart.buckets)
    if (bucket.values[0].samples > 0)
      json["rows"].push_back(row(bucket.start, bucket.gap_before, bucket.middle, bucket.values));
  return json;
}

// The curve as SVG: by day and by night where that is known, with the states below it.
std::string chartSvg(const Shown& camera, Request& request) {
  constexpr double kNarrow = 480, kHeight = 300, kLowHeight = 250, kBandHeight = 42;
  constexpr UnixMs kShortNight = 6 * kHourMs;  // a bucket that holds a night and a day is not shaded
  Curve curve = curveOf(camera, request);
  const Look look = lookIn(request);
  const bool dark = look.dark;
  ChartDrawing drawing{.clock = camera.clock()};
  if (dark) drawing.colors = charts::darkChartColors();
  const bool knows_night = curve.knowsNight();
  for (ChartBucket& bucket : curve.chart.buckets) {
    bucket.values =
        knows_night ? std::vector<Spread>{bucket.values[1], bucket.values[2]} : std::vector<Spread>{bucket.values[0]};
    if (curve.chart.bucket_ms >= kShortNight) bucket.night.reset();
  }
  const auto add = [&](const char* name, std::uint32_t light_color, std::uint32_t dark_color) {
    drawing.series.push_back({.name = name,
                              .unit = curve.quantity->unit,
                              .decimals = curve.quantity->digits,
                              .joins = !drawing.series.empty(),
                              .color = dark ? dark_color : light_color});
  };
  if (knows_night) {
    add("by day", 0xb25e00, 0xf2ab4e);
    add("by night", 0x3d56c5, 0x93a7ff);
  } else {
    add("mean", 0x0b5cbb, 0x7db8ff);
  }
  drawing.title = (curve.key.quantity.empty() ? curve.key.class_name : curve.quantity->label) +
                  (curve.key.region.empty() ? "" : " in " + curve.key.region);
  drawing.bands = chartBands(camera.store->stateChanges(curve.of.id, camera.from, camera.to),
                             camera.store->knownStates(camera.source.id),
                             camera.store->outages(camera.source.id, camera.from, camera.to, camera.awaited));
  drawing.chart = std::move(curve.chart);
  drawing.axis.from = static_cast<double>(camera.from) / kSecondMs;
  drawing.axis.to = static_cast<double>(camera.to) / kSecondMs;
  const double height =
      (look.width < kNarrow ? kLowHeight : kHeight) + kBandHeight * static_cast<double>(drawing.bands.size());
  return charts::chartSvg(std::move(drawing), {look.width, height});
}

// Days coloured by what is wanted, or by how long a state counted, each with its picture.
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
  if (look.dark) calendar.colors = charts::darkChartColors();
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
  auto found = camera.store->outages(camera.source.id, camera.from, camera.to, camera.awaited);
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

constexpr std::int64_t kUpdateMs = 10000;  // listing the pictures of a year takes longer than an answer may
constexpr std::pair<std::string_view, const char*> kViews[] = {{".png", "frame"},
                                                               {vision::EstimateFiles::kOverlay, "overlay"},
                                                               {vision::EstimateFiles::kDepthColors, "depth"},
                                                               {vision::EstimateFiles::kMerge, "merge_map"}};

// The snapshots, time-lapses and recordings in folders (SnapshotWriter), by ids. Lists the folders again ten seconds
// later at the earliest. Not thread-safe.
class StoredPictures {
 public:
  explicit StoredPictures(std::function<std::set<std::string>()> folders) : folders_(std::move(folders)) {}

  // The latest of an owner in [from, to), the newest first: a list of {"time", "frame", "overlay", "depth",
  // "merge_map"}, the last four with the id of the picture, where there is one.
  Json latest(const PictureOwner& owner, UnixMs from, UnixMs to, std::size_t limit) {
    update();
    Json list = Json::array();
    std::string last;  // the stem of the picture at the end of the list
    const std::string first = fileTime(from, true);
    for (auto at = paths_.lower_bound(fileTime(to, true)); at != paths_.begin() && (--at)->first >= first;) {
      const auto& [id, path] = *at;
      std::string time = id.substr(0, kSnapshotTime);
      const std::string stem = path.substr(0, path.rfind('/') + 1 + time.size());
      if (const auto facts = factsOf(stem); !facts || !facts->owner.sameAs(owner)) continue;
      if (stem != last) {
        if (list.size() == limit) break;
        time[13] = time[16] = ':';  // as isoTime() writes it
        list.push_back({{"time", time}});
        last = stem;
      }
      for (const auto& [ending, view] : kViews)
        if (path.substr(stem.size()) == ending) list.back()[view] = id;
    }
    return list;
  }

  // The same of the one that is nearest to a time; an empty list: there is none.
  Json nearest(const PictureOwner& owner, UnixMs from, UnixMs to, UnixMs at) {
    std::vector<std::pair<UnixMs, UnixMs>> times;  // how far away each is, and when it was taken
    for (const auto& [id, time] : frames(from, to)) times.emplace_back(std::abs(time - at), time);
    std::ranges::sort(times);
    for (const auto& [away, time] : times)
      if (Json found = latest(owner, time, time + 1, 1); !found.empty()) return found;
    return Json::array();
  }

  // Of each day the one that is nearest to its moment and not flagged, with its id.
  std::vector<DayPicture> ofDays(const PictureOwner& owner, UnixMs from, UnixMs to, const DayPictures& days) {
    const auto all = frames(from, to);
    std::vector<UnixMs> times;
    for (const auto& [id, time] : all) times.push_back(time);
    const auto good = [&](std::size_t i) {
      const std::string& path = paths_.at(all[i].first);
      const auto facts = factsOf(path.substr(0, path.size() - kEndOfFrame.size()));
      return facts && facts->owner.sameAs(owner) && !facts->flagged;
    };
    std::vector<DayPicture> chosen;
    for (const std::size_t i : days.choose(times, good)) chosen.push_back({all[i].second, all[i].first});
    return chosen;
  }

  // The picture that is listed under this id, and the ending of its file.
  std::pair<StoredFrame, std::string> find(const std::string& id) {
    update();
    const auto found = paths_.find(id);
    if (found == paths_.end()) throw Refusal(404, "no such picture is stored");
    const std::size_t end = found->second.rfind('/') + 1 + kSnapshotTime;
    return {readStored(found->second.substr(0, end)), found->second.substr(end)};
  }

 private:
  static constexpr std::string_view kEndOfFrame = ".png";
  struct Facts {
    PictureOwner owner{};
    bool flagged = false;
  };

  // The ids and times of all frames in [from, to), ascending.
  std::vector<std::pair<std::string, UnixMs>> frames(UnixMs from, UnixMs to) {
    update();
    std::vector<std::pair<std::string, UnixMs>> all;
    const auto end = paths_.lower_bound(fileTime(to, true));
    for (auto at = paths_.lower_bound(fileTime(from, true)); at != end; ++at)
      if (at->first.find(std::string(kEndOfFrame) + "-", kSnapshotTime) == kSnapshotTime)
        all.emplace_back(at->first, snapshotTime(at->first));
    return all;
  }

  // nullopt: its .json, which is written last, was not there yet.
  const std::optional<Facts>& factsOf(const std::string& stem) {
    auto& facts = facts_[stem];
    if (!facts) try {
        const StoredFrame frame = readStored(stem);
        facts = {frame.owner, frame.flagged};
      } catch (const Error&) {
      }
    return facts;
  }

  void update() {
    if (updated_ && steadyNow() < *updated_ + kUpdateMs) return;
    paths_.clear();
    for (int number = 0; const std::string& folder : folders_()) try {
        const std::string of_folder = "-" + std::to_string(number++);
        for (const std::string& name : snapshotFiles(folder))
          if (name.ends_with(".png")) paths_[name + of_folder] = folder + "/" + name;
      } catch (const Error&) {  // no picture was written yet, or the disk is away
      }
    updated_ = steadyNow();
  }

  std::function<std::set<std::string>()> folders_;
  std::optional<std::int64_t> updated_{};                // steady
  std::map<std::string, std::string> paths_{};           // by id: the name of the file, then the number of its folder
  std::map<std::string, std::optional<Facts>> facts_{};  // by the path without its ending
};

constexpr std::tuple<const char*, const char*, const char*> kMetrics[] = {
    {"mpm_build_info", "gauge", "1, with the version of the program."},
    {"mpm_camera_up", "gauge", "1 while samples of the camera come, 0 while they should; none when it has ended."},
    {"mpm_stored_samples", "gauge", "Samples that the database keeps one by one."},
    {"mpm_last_frame_timestamp_seconds", "gauge", "Time of the last sample, since 1970."},
    {"mpm_tokens", "gauge", "Tokens after the last insertion."},
    {"mpm_class_area_ratio", "gauge", "Share of the pixels that a class covers."},
    {"mpm_rows_computed_ratio", "gauge", "Share of the rows that were computed, with reuse."},
    {"mpm_picture_flag", "gauge", "1 while the picture is dark, overexposed, blurred or fogged."},
    {"mpm_state", "gauge", "1 for the state that counts."},
    {"mpm_frames_total", "counter", "Frames that came from the camera."},
    {"mpm_stalls_total", "counter", "How often frames stopped coming."},
    {"mpm_reconnects_total", "counter", "How often frames came again after a loss."},
    {"mpm_outbox_waiting", "gauge", "Messages that no broker or server has confirmed yet."},
    {"mpm_inference_seconds", "histogram", "Time that the model took for a frame."}};

// /api/cameras in the text format of Prometheus. The numbers are those of the last samples, and of a camera that this
// program watches its counts; a region without a name is the whole picture.
std::string metricsText(const Json& cameras) {
  std::map<std::string, std::string> lines;  // by the name of the metric, which a scrape must not name twice
  std::string camera;
  const auto add = [&](const std::string& name, const Json& value, std::map<std::string, std::string> labels = {},
                       const char* part = "") {
    if (value.is_null()) return;
    if (!camera.empty()) labels["camera"] = camera;
    std::string text = name + part;
    for (char before = '{'; const auto& [label, of] : labels)
      text += std::exchange(before, ',') + label + "=" + toLine(visibleText(of, std::string::npos));  // in quotes
    lines[name] += text + "} " + numberText(value.get<double>()) + "\n";
  };
  add("mpm_build_info", 1, {{"version", cameras["version"].get<std::string>()}});
  for (const Json& one : cameras["cameras"]) {
    camera = one["name"];
    // What has ended is not missed.
    if (one["state"] != "ended" && one["state"] != "archive") add("mpm_camera_up", one["state"] == "online" ? 1 : 0);
    add("mpm_stored_samples", one["samples"]);
    if (one["last_ms"] > 0) add("mpm_last_frame_timestamp_seconds", one["last_ms"].get<double>() / 1000);
    if (const auto live = one.find("live"); live != one.end()) {
      for (const char* key : {"frames_total", "stalls_total", "reconnects_total", "outbox_waiting"})
        add(std::string("mpm_") + key, (*live)[key]);
      std::int64_t count = 0;
      for (std::size_t i = 0; i <= kTimeBounds.size(); ++i) {
        const bool bounded = i < kTimeBounds.size();
        count += (*live)["by_time"][i].get<std::int64_t>();
        add("mpm_inference_seconds", count, {{"le", bounded ? numberText(kTimeBounds[i]) : "+Inf"}}, "_bucket");
      }
      add("mpm_inference_seconds", count, {}, "_count");
      add("mpm_inference_seconds", (*live)["seconds"], {}, "_sum");
    }
    const Json& sample = one["sample"];
    if (sample.is_null()) continue;
    const auto addRegion = [&](const std::string& name, const Json& region) {
      add("mpm_tokens", region["tokens"], {{"region", name}});
      std::map<std::string, Json> areas;
      for (const auto& [of, share] : region["area_fraction"].items()) areas[of] = share;
      for (const Json& of : areas.empty() ? Json() : one["classes"])
        areas.try_emplace(of.get<std::string>(), 0);  // a class that is not in the picture, for means over time
      for (const auto& [of, share] : areas) add("mpm_class_area_ratio", share, {{"region", name}, {"class", of}});
    };
    addRegion("", sample);
    for (const auto& [name, region] : sample["regions"].items()) addRegion(name, region);
    if (!sample["rows"].is_null()) add("mpm_rows_computed_ratio", sample["rows"].get<double>() / 100);
    for (const char* flag : kQualityFlags) add("mpm_picture_flag", sample[flag], {{"flag", flag}});
    for (const auto& [name, of] : sample["states"].items())
      if (of["counted"].is_string()) add("mpm_state", 1, {{"name", name}, {"state", of["counted"].get<std::string>()}});
  }
  std::string text;
  for (const auto& [name, type, help] : kMetrics)
    text += std::string("# HELP ") + name + " " + help + "\n# TYPE " + name + " " + type + "\n" + lines[name];
  return text;
}

Response toResponse(const Json& json, int status = 200) { return {status, "application/json", toLine(json)}; }

}  // namespace

struct Page::Impl {
  PageOptions options;
  std::map<std::string, std::optional<StoreReader>> readers{};            // by path
  std::map<std::string, std::pair<std::int64_t, std::string>> resting{};  // by path: until when, steady, and why
  std::int64_t deadline = 0;                                              // of the answer, steady
  StoredPictures pictures{[this] { return folders(); }};
  std::map<std::string, std::string> thumbs{};  // JPEG, by file and what is hidden in it

  std::vector<CameraStatus> live() const { return options.live ? options.live() : std::vector<CameraStatus>(); }

  std::set<std::string> folders() const {
    std::set<std::string> all(options.snapshots.begin(), options.snapshots.end());
    for (const CameraStatus& watched : live()) all.insert(watched.snapshots);
    return all;
  }

  // `problems`: gets a line for each database that cannot be read.
  std::vector<Shown> cameras(Json& problems) {
    std::vector<Shown> all;
    std::set<std::string> names;
    auto before = std::exchange(readers, {});
    const auto read = [&](const std::string& path) -> std::vector<SourceRecord> {
      auto& reader = readers.try_emplace(path, std::move(before[path])).first->second;
      const auto rests = resting.find(path);
      try {
        if (rests != resting.end() && steadyNow() < rests->second.first) throw Error(rests->second.second);
        if (!reader || !reader->current()) reader.emplace(path);
        reader->setDeadline(deadline);
        return reader->sources(options.now());
      } catch (const Error& error) {
        reader.reset();
        problems.push_back(error.what());
        if (steadyNow() > deadline) {  // the others get their time
          resting[path] = {steadyNow() + kRestMs, error.what()};
          deadline = steadyNow() + options.patience_ms;
        }
        return {};
      }
    };
    const auto add = [&](const std::string& said, const std::string& path, const SourceRecord& source) -> Shown& {
      const std::string usual = utf8Text(said);  // as JSON and the requests of a browser have it
      std::string name = usual;
      for (int copy = 2; !names.insert(name).second; ++copy) name = usual + " (" + std::to_string(copy) + ")";
      return all.emplace_back(Shown{std::move(name), source.id ? &*readers[path] : nullptr, source});
    };
    for (const std::string& path : options.databases)
      for (const SourceRecord& source : read(path)) add(source.name, path, source);
    for (const CameraStatus& watched : live()) {
      const auto sources = read(watched.database);
      const auto stored = std::ranges::find(sources, watched.source, &SourceRecord::name);
      const SourceRecord source = stored == sources.end() ? SourceRecord{.name = watched.source} : *stored;
      add(watched.name, watched.database, source).live = watched;
    }
    return all;
  }

  Shown asked(Request& request) {
    const std::string& name = request.arguments["camera"];
    const UnixMs to = timeIn(request, "to", options.now()), from = timeIn(request, "from", to - kDayMs);
    if (from >= to) throw Refusal(400, "from: it must be before 'to'");
    Json problems;
    for (Shown& one : cameras(problems)) {
      if (one.name != name) continue;
      if (!one.store) throw Refusal(404, "nothing is stored of '" + visibleText(name) + "' yet");
      std::tie(one.from, one.to) = std::pair(from, to);
      one.awaited =
          one.store->awaited(one.source.id, options.now(), one.live ? std::optional(!one.live->over) : std::nullopt);
      return std::move(one);
    }
    throw Refusal(404, "camera: there is no '" + visibleText(name) + "'");
  }

  Json cameraJson(const Shown& camera) {
    const auto& [name, store, source, live, from, to, awaited] = camera;
    const auto all_series = store ? store->series(source.id) : std::vector<SeriesRecord>();
    const SeriesRecord series = all_series.empty() ? SeriesRecord() : all_series.back();
    const UnixMs now = options.now();
    const auto last = store ? store->lastSample(source, series.id) : std::nullopt;
    Json regions = Json::array();
    for (const auto& one : store ? currentRegions(*store, source.name) : std::vector<vision::Region>()) {
      regions.push_back(vision::toJson(one));
      regions.back().erase("mask");  // thousands of numbers, for an outline that the page does not draw
    }
    const bool titled = live && !live->title.empty();
    Json json = {{"name", name},
                 {"title", titled ? live->title : name},
                 {"state", stateOf(camera, now)},
                 {"clock", camera.clockJson(now)},
                 {"own_clock", source.own_clock},
                 {"first_ms", source.first}};
    if (live) {
      const auto& [capture, inference] = std::tie(live->session.source, live->session.inference);
      json["live"] = {{"frames_total", capture.in},
                      {"stalls_total", capture.stalls},
                      {"reconnects_total", capture.reconnects},
                      {"outbox_waiting", store ? Json(store->waiting()) : Json()},
                      {"seconds", inference.all_s},
                      {"by_time", inference.by_time}};
    }
    json["last_ms"] = source.last;
    json["samples"] = store ? store->count(source.id) : 0;
    json["model"] = series.model_name;
    json["series"] = Json::array();
    for (const SeriesRecord& one : all_series)
      json["series"].push_back(
          {{"number", one.number}, {"model", one.model_name}, {"reduce", one.reduce}, {"settings", one.settings}});
    json["classes"] = series.classes;
    json["regions"] = std::move(regions);
    json["pictures"] = store ? pictures.latest(camera.owner(), 0, source.end, 1) : Json::array();
    json["sample"] = last ? toJson(*last, series.classes, series.reduce) : Json();
    return json;
  }

  Json camerasJson() {
    Json problems = Json::array(), list = Json::array(), table = Json::array();
    std::vector<Shown> all = cameras(problems);
    if (const auto stored = std::ranges::count_if(all, [](const Shown& one) { return !one.live; });
        stored > static_cast<std::ptrdiff_t>(kMaxCameras)) {
      std::vector<UnixMs> ends;
      for (const Shown& one : all)
        if (!one.live) ends.push_back(one.source.last);
      std::ranges::nth_element(ends, ends.begin() + (kMaxCameras - 1), std::greater());
      std::size_t left = kMaxCameras;
      std::erase_if(
          all, [&](const Shown& one) { return !one.live && (one.source.last < ends[kMaxCameras - 1] || left-- == 0); });
      problems.push_back("there are " + std::to_string(stored) + " sources: of them the " +
                         std::to_string(kMaxCameras) + " with the latest samples are shown");
    }
    for (const Shown& one : all) try {
        list.push_back(cameraJson(one));
      } catch (const Error& error) {  // a file that somebody changed, or more than can be read in time
        problems.push_back(visibleText(one.name) + ": " + error.what());
        list.push_back(unreadable(one, options.now()));
      }
    for (const Quantity& one : quantities())
      table.push_back({{"key", one.key}, {"label", one.label}, {"unit", one.unit}, {"of_regions", one.of_regions}});
    Json json = {{"version", MPM_VERSION}, {"now_ms", options.now()}, {"cameras", std::move(list)}};
    json["quantities"] = std::move(table);
    json["problems"] = std::move(problems);
    return json;
  }

  // A camera of which nothing more can be said than that it is there.
  static Json unreadable(const Shown& camera, UnixMs now) {
    return {{"name", camera.name},
            {"state", "lost"},
            {"clock", camera.clockJson(now)},
            {"own_clock", camera.source.own_clock},
            {"first_ms", camera.source.first},
            {"last_ms", 0},
            {"samples", 0},
            {"model", ""},
            {"classes", Json::array()},
            {"regions", Json::array()},
            {"pictures", Json::array()},
            {"sample", nullptr}};
  }

  // As it is stored, or a JPEG that is no wider than `width` px.
  Response picture(const std::string& id, std::optional<int> width) {
    const auto [frame, ending] = pictures.find(id);
    Json problems;
    const auto shown = cameras(problems);
    const auto camera = std::ranges::find_if(
        shown, [&owner = frame.owner](const Shown& one) { return one.store && one.owner().sameAs(owner); });
    if (camera == shown.end()) throw Refusal(404, "no such picture is stored");
    const PrivacyOptions hidden = readPrivacy(camera->store->privacy(camera->source.name));
    const std::string key = frame.stem + ending + "\n" + hidden.json();
    if (const auto made = thumbs.find(key); width == kThumbWidth && made != thumbs.end())
      return {200, "image/jpeg", made->second};
    for (const std::string& file : {frame.stem + ending, frame.stem + ".png"}) requireOrdinary(file);
    if (!width && !frame.showsOf(hidden).on()) return {200, "image/png", readFile(frame.stem + ending)};
    cv::Mat image = frame.picture(ending, hidden);
    std::vector<unsigned char> png;
    if (!width && cv::imencode(".png", image, png)) return {200, "image/png", {png.begin(), png.end()}};
    if (const int most = width.value_or(kSmallWidth); image.cols > most)
      cv::resize(image, image, {most, std::max(1, image.rows * most / image.cols)}, 0, 0, cv::INTER_AREA);
    std::vector<unsigned char> jpeg;
    cv::imencode(".jpg", image, jpeg, {cv::IMWRITE_JPEG_QUALITY, 85});
    std::string bytes(jpeg.begin(), jpeg.end());
    if (width == kThumbWidth) {
      if (thumbs.size() >= kMaxThumbs) thumbs.clear();
      thumbs[key] = bytes;
    }
    return {200, "image/jpeg", std::move(bytes)};
  }

  std::string calendar(Request& request) {
    const Shown camera = asked(request);
    if (camera.to - camera.from > kMaxDays * kDayMs)
      throw Refusal(400, "from: a calendar has at most " + std::to_string(kMaxDays) + " days");
    const std::string& moment = request.arguments["moment"];
    const auto place = storedPlace(*camera.store, camera.source.id);
    const DayPictures days = [&] {
      try {
        return DayPictures(parseDayMoment(moment.empty() ? "noon" : moment), place, camera.clock());
      } catch (const Error& error) {
        throw Refusal(400, std::string("moment: ") + error.what());
      }
    }();
    auto chosen = pictures.ofDays(camera.owner(), camera.from, camera.to, days);
    for (DayPicture& one : chosen) one.address = "snapshot/" + one.address + "?thumb";
    return calendarSvg(camera, request, chosen, place);
  }

  Json json(Request request) {
    const std::string& path = request.path;
    if (path == "/api/cameras") return camerasJson();
    if (path == "/api/series") return series(asked(request), request);
    if (path == "/api/events") return events(asked(request));
    if (path == "/api/outages") return outages(asked(request));
    if (path == "/api/states") return states(asked(request), request);
    if (path != "/api/snapshots") throw Refusal(404, "there is nothing under this path");
    const Shown camera = asked(request);
    if (request.arguments["near"].empty()) return pictures.latest(camera.owner(), camera.from, camera.to, kMaxPictures);
    return pictures.nearest(camera.owner(), camera.from, camera.to, timeIn(request, "near", 0));
  }
};

Page::Page(PageOptions options) : impl_(new Impl{.options = std::move(options)}) {}
Page::~Page() = default;
Json Page::json(const Request& request) {
  impl_->deadline = steadyNow() + impl_->options.patience_ms;
  return impl_->json(request);
}

Response Page::answer(const Request& request) try {
  constexpr std::string_view kPicture = "/api/snapshot/";
  const std::string& path = request.path;
  impl_->deadline = steadyNow() + impl_->options.patience_ms;
  if (const Asset* asset = findAsset(path)) return {200, std::string(asset->type), std::string(asset->bytes)};
  if (!request.allowed) throw Refusal(401, "a token is needed, or without one the address that 'mpm serve' prints");
  if (path.starts_with(kPicture))
    return impl_->picture(path.substr(kPicture.size()), request.arguments.contains("thumb") ? std::optional(kThumbWidth)
                                                        : request.arguments.contains("small")
                                                            ? std::optional(kSmallWidth)
                                                            : std::nullopt);
  if (path == "/api/chart.svg") {
    Request asked = request;
    return {200, "image/svg+xml", chartSvg(impl_->asked(asked), asked)};
  }
  if (path == "/api/calendar.svg") {
    Request asked = request;
    return {200, "image/svg+xml", impl_->calendar(asked)};
  }
  if (path == "/metrics") return {200, "text/plain; version=0.0.4; charset=utf-8", metricsText(impl_->camerasJson())};
  return toResponse(impl_->json(request));
} catch (const Refusal& refusal) {
  return toResponse({{"error", refusal.what()}}, refusal.status);
} catch (const std::exception& error) {
  return toResponse({{"error", error.what()}}, 500);
}

}  // namespace mpm::page
