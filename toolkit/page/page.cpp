// SPDX-License-Identifier: Apache-2.0
#include "page/page.h"

#include <algorithm>
#include <functional>
#include <map>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "base/atomic_file.h"
#include "base/visible_text.h"
#include "monitor/age_text.h"
#include "monitor/store/calendar.h"
#include "monitor/store/snapshot.h"
#include "monitor/store/store_reader.h"
#include "mpm/error.hpp"
#include "mpm/version.hpp"
#include "page/answers.h"
#include "page/asked.h"
#include "page/metrics.h"
#include "page/picture_list.h"
#include "vision/regions/region.h"
#include "vision/time.h"

namespace mpm::page {
namespace {

using namespace monitor;

constexpr int kSmallWidth = 800;          // px, of a picture that a phone loads quickly
constexpr int kThumbWidth = 128;          // px, of a picture of a day in a calendar
constexpr std::size_t kMaxThumbs = 4000;  // that are kept in memory: some kilobytes each
constexpr std::size_t kMaxPictures = 48;  // of one answer
constexpr std::size_t kMaxCameras = 500;  // that are stored and that nobody watches here
constexpr std::int64_t kRestMs = 60'000;  // a slow database is not read for so long, because others wait

Response toResponse(const Json& json, int status = 200) { return {status, "application/json", toLine(json)}; }

}  // namespace

struct Page::Impl {
  PageOptions options;
  std::map<std::string, std::optional<StoreReader>> readers{};            // by path
  std::map<std::string, std::pair<std::int64_t, std::string>> resting{};  // by path: until when, steady, and why
  std::int64_t deadline = 0;                                              // of the answer, steady
  PictureList pictures{[this] { return folders(); }};
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
      Shown& shown = add(watched.name, watched.database, source);
      shown.live = watched;
      if (shown.store) shown.source.awaited = shown.store->awaited(source.id, options.now(), !watched.over);
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
      one.from = from;
      one.to = to;
      return std::move(one);
    }
    throw Refusal(404, "camera: there is no '" + visibleText(name) + "'");
  }

  Json cameraJson(const Shown& camera) {
    const auto& [name, store, source, live] = std::tie(camera.name, camera.store, camera.source, camera.live);
    const auto all_series = store ? store->series(source.id) : std::vector<SeriesRecord>();
    const UnixMs now = options.now();
    const auto last = store ? store->lastSample(source, all_series) : std::nullopt;
    const SeriesRecord series = last ? last->series : all_series.empty() ? SeriesRecord() : all_series.back();
    Json regions = Json::array();
    for (const auto& one : store ? currentRegions(*store, source.name) : std::vector<vision::Region>()) {
      regions.push_back(vision::toJson(one));
      regions.back().erase("mask");  // thousands of numbers, for an outline that the page does not draw
    }
    Json json = {{"name", name},
                 {"title", camera.title()},
                 {"state", stateOf(camera, now)},
                 {"clock", camera.clockJson(now)},
                 {"own_clock", source.own_clock},
                 {"first_ms", source.first}};
    if (live) {
      const auto& [capture, inference] = std::tie(live->session.source, live->session.inference);
      json["live"] = {{"frames_total", capture.frames_in},
                      {"stalls_total", capture.stalls},
                      {"reconnects_total", capture.reconnects},
                      {"outbox_waiting", store ? Json(store->waiting()) : Json()},
                      {"seconds", inference.all_s},
                      {"by_time", inference.by_time}};
    }
    json["last_ms"] = last ? last->sample.time : source.last;  // of hours, where no sample is kept one by one
    const auto last_ms = json["last_ms"].get<UnixMs>();
    json["known_until_ms"] = source.knownUntil();
    json["age"] = source.own_clock || last_ms == 0 ? Json() : Json(ageText(now - last_ms));
    json["years"] = Json::array();
    for (const CalendarYear& one : calendarYears(source))
      json["years"].push_back({{"year", one.year}, {"from_ms", one.from}, {"to_ms", one.to}});
    json["samples"] = store ? store->count(source.id, source.first, source.last + 1, series.id) : 0;
    json["model"] = series.model_name;
    json["settings"] = series.settings;
    json["series"] = Json::array();
    for (const SeriesRecord& one : all_series) {
      json["series"].push_back({{"number", one.number},
                                {"model", one.model_name},
                                {"model_digest", one.model_digest},
                                {"reduce", one.reduce},
                                {"precision", one.precision},
                                {"settings", one.settings}});
    }
    json["classes"] = series.classes;
    json["regions"] = std::move(regions);
    json["pictures"] = store ? pictures.latest(camera.owner(), 0, source.end, 1) : Json::array();
    json["sample"] = last ? toJson(last->sample, series.classes, series.reduce) : Json();
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
    for (const Shown& one : all) {
      try {
        list.push_back(cameraJson(one));
      } catch (const Error& error) {  // a file that somebody changed, or more than can be read in time
        problems.push_back(visibleText(one.name) + ": " + error.what());
        list.push_back(unreadable(one, options.now()));
      }
    }
    for (const Quantity& one : quantities()) {
      table.push_back({{"key", one.key},
                       {"label", one.label},
                       {"unit", one.unit},
                       {"of_regions", one.of_regions},
                       {"is_flag", one.isFlag()}});
    }
    Json json = {{"version", MPM_VERSION}, {"now_ms", options.now()}, {"cameras", std::move(list)}};
    json["quantities"] = std::move(table);
    for (const auto& [text, name] : dayMoments()) json["moments"].push_back({{"moment", text}, {"name", name}});
    json["problems"] = std::move(problems);
    return json;
  }

  // A camera of which nothing more can be said than that it is there.
  static Json unreadable(const Shown& camera, UnixMs now) {
    return {{"name", camera.name},
            {"title", camera.title()},
            {"state", "lost"},
            {"clock", camera.clockJson(now)},
            {"own_clock", camera.source.own_clock},
            {"first_ms", camera.source.first},
            {"last_ms", 0},
            {"known_until_ms", 0},
            {"years", Json::array()},
            {"age", nullptr},
            {"samples", nullptr},
            {"model", ""},
            {"settings", ""},
            {"series", Json::array()},
            {"classes", Json::array()},
            {"regions", Json::array()},
            {"pictures", Json::array()},
            {"sample", nullptr}};
  }

  // As it is stored, or a JPEG that is no wider than `width` px.
  Response picture(const std::string& id, std::optional<int> width) {
    const auto [frame, ending] = pictures.find(id);
    Json problems;
    // A copy of a database is of the same pictures, and may hide less or more than the database.
    std::optional<PrivacyOptions> by_any;
    for (const Shown& one : cameras(problems)) {
      if (one.store && one.owner().sameAs(frame.owner)) {
        if (!by_any) by_any.emplace();
        by_any->add(readPrivacy(one.store->privacy(one.source.name)));
      }
    }
    if (!by_any) throw Refusal(404, "no such picture is stored");
    const PrivacyOptions& hidden = *by_any;
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
  if (path.starts_with(kPicture)) {
    return impl_->picture(path.substr(kPicture.size()), request.arguments.contains("thumb") ? std::optional(kThumbWidth)
                                                        : request.arguments.contains("small")
                                                            ? std::optional(kSmallWidth)
                                                            : std::nullopt);
  }
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
