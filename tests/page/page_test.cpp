// SPDX-License-Identifier: Apache-2.0
#include "page/page.h"

#include <chrono>
#include <opencv2/imgcodecs.hpp>
#include <regex>

#include "base/atomic_file.h"
#include "monitor/privacy.h"
#include "monitor/results.h"
#include "monitor/samples.h"
#include "monitor/sql.h"
#include "monitor/store/calendar.h"
#include "monitor/store/snapshot.h"
#include "support/local_zone.h"
#include "support/svg_number.h"

namespace mpm::page {
namespace {

using namespace monitor::test;
using monitor::PrivacyOptions, monitor::Sample, monitor::StoreReader, monitor::StoreWriter;

const std::string kName = "<script>alert(\"1\")</script>\\\n";

class PageTest : public InFolder {
 protected:
  const mpm::test::LocalZone zone_{"UTC"};  // of cameras, whose clock is that of this machine

  Page page(std::vector<std::string> databases = {}, UnixMs now = kNoon + kMinuteMs) {
    if (databases.empty()) databases = {path_};
    return Page({.databases = databases, .snapshots = {folder_ / "shots"}, .now = [now] { return now; }});
  }
  using Arguments = std::map<std::string, std::string>;
  static Response get(Page& page, const std::string& path, Arguments arguments = {}) {
    return page.answer({.path = path, .arguments = std::move(arguments), .allowed = true});
  }
  static std::string metrics(Page& page) { return get(page, "/metrics").body; }
  static Json ask(Page& page, const std::string& path, Arguments arguments = {}, int status = 200) {
    const Response response = get(page, path, std::move(arguments));
    EXPECT_EQ(response.status, status) << path << " " << response.body;
    return Json::parse(response.body, nullptr, false);
  }
  std::string shot(const std::string& name, const std::string& source, int width = 8,
                   const std::string& database = "") {
    fs::create_directory(folder_ / "shots");
    const std::string stem = folder_ / "shots/" + name;
    cv::imwrite(stem + ".png", cv::Mat(width / 2, width, CV_8UC3, cv::Scalar(10, 20, 30)));
    std::ofstream(stem + ".json") << Json{{"source", source},
                                          {"database", database.empty() ? StoreReader(path_).id() : database}};
    return stem;
  }
};

TEST_F(PageTest, ACameraIsOnlineWhileSamplesCome) {
  RunningWriter writer(path_);
  writer.append(sampleAt(kNoon));
  ASSERT_TRUE(writer.flush());
  const auto state = [&](UnixMs now) {
    Page shown = page({}, now);
    return ask(shown, "/api/cameras")["cameras"][0]["state"];
  };
  const auto up = [&](UnixMs now) {
    Page shown = page({}, now);
    const std::string text = metrics(shown);
    const auto at = text.find("mpm_camera_up{camera=\"camera 0\"} ");
    return at == std::string::npos ? "" : text.substr(text.find("} ", at) + 2, 1);
  };
  constexpr UnixMs kAlive = 10 * kSecondMs + kMinuteMs;
  EXPECT_EQ(state(kNoon + kAlive), "online") << "samples are meant to come each second";
  EXPECT_EQ(state(kNoon + kAlive + 1), "stalled");
  EXPECT_EQ(std::pair(up(kNoon + kAlive), up(kNoon + kAlive + 1)), std::pair(std::string("1"), std::string("0")));
  writer.append(sampleAt(kNoon + 400 * kDayMs));
  ASSERT_TRUE(writer.flush());
  EXPECT_EQ(state(kNoon + kAlive + 1), "stalled") << "the clock was wrong for a moment";
  EXPECT_EQ(state(kNoon + 400 * kDayMs), "online");
  writer.endSession();
  ASSERT_TRUE(writer.flush());
  EXPECT_EQ(state(kNoon), "ended");
  EXPECT_EQ(up(kNoon + kDayMs), "") << "nobody misses what has ended";
}

// A sample in twenty seconds in place of one: what is reached counts.
TEST_F(PageTest, ASlowCameraIsOnlineByItsPace) {
  RunningWriter writer(path_);
  for (int i = 0; i < 20; ++i) writer.append(sampleAt(kNoon + i * 20 * kSecondMs));
  ASSERT_TRUE(writer.flush());
  for (const auto& [seconds, state] : {std::pair(110, "online"), {111, "stalled"}}) {
    Page shown = page({}, kNoon + (19 * 20 + seconds) * kSecondMs);
    EXPECT_EQ(ask(shown, "/api/cameras")["cameras"][0]["state"], state);
  }
}

TEST_F(PageTest, CamerasHaveTheNumbersOfTheirLastSample) {
  Sample sample = sampleAt(kNoon);
  sample.regions.push_back(regionOf(0, {1, 2, 3}, 8, {{1, 0.5}}, "gate"));
  monitor::SessionInfo guided = session();
  guided.settings = "refine=guided";
  record(path_, {sampleAt(kNoon - kMinuteMs, 300), sample}, guided, {regionNamed("gate")});
  record(folder_ / "b.db", {sampleAt(kNoon, 200)});
  Page shown = page({path_, folder_ / "b.db", folder_ / "none.db"});
  const Json json = ask(shown, "/api/cameras");
  ASSERT_EQ(json["cameras"].size(), 2);
  EXPECT_EQ(json["cameras"][0]["name"], "camera 0");
  EXPECT_EQ(json["cameras"][1]["name"], "camera 0 (2)") << "a name is one camera";
  EXPECT_EQ(json["cameras"][1]["sample"]["tokens"], 200);
  EXPECT_EQ(json["cameras"][0]["sample"]["tokens"], 377);
  EXPECT_EQ(json["cameras"][0]["series"][0]["settings"], "refine=guided");
  EXPECT_EQ(json["cameras"][0]["sample"]["regions"]["gate"]["area_fraction"]["car"], 0.5);
  EXPECT_EQ(json["cameras"][0]["regions"][0]["polygons"][0][1], Json({9, 0}));
  ASSERT_EQ(json["problems"].size(), 1) << "the others are shown all the same";
  EXPECT_THAT(json["problems"][0].get<std::string>(), HasSubstr("none.db"));
  std::vector<std::string> flags;
  for (const Json& one : json["quantities"])
    if (one["is_flag"].get<bool>()) flags.push_back(one["key"]);
  EXPECT_THAT(flags, ElementsAre("dark", "overexposed", "blurred", "fogged"));
  for (const Json& one : json["moments"]) EXPECT_NO_THROW(monitor::parseDayMoment(one["moment"])) << one;
  EXPECT_THAT(json["moments"], SizeIs(6));
  record(folder_ / "none.db", {sampleAt(kNoon, 100)}, session("camera 1"));
  const Json later = ask(shown, "/api/cameras");
  EXPECT_EQ(later["problems"], Json::array());
  EXPECT_EQ(later["cameras"][2]["sample"]["tokens"], 100) << "it is there by now";
}

TEST_F(PageTest, ACameraThatIsWatchedHereHasItsNameStateAndCounts) {
  record(path_, {sampleAt(kNoon)});
  monitor::CameraStatus live{.name = "yard", .title = "Front yard", .database = path_, .source = "camera 0"};
  live.session.source = {.state = monitor::CaptureState::kStalled, .frames_in = 70, .stalls = 3, .reconnects = 2};
  live.session.inference.by_time = {0, 4, 0, 0, 0, 0, 0, 1};
  live.session.inference.all_s = 20.5;
  Page shown({.live = [&] { return std::vector{live}; }});
  const auto camera = [&](const char* key) { return ask(shown, "/api/cameras")["cameras"][0][key]; };
  const std::string text = metrics(shown);
  const std::string yard = "{camera=\"yard\"", seconds = "\nmpm_inference_seconds", bucket = seconds + "_bucket" + yard;
  for (const std::string& lines :
       {"total counter\nmpm_frames_total" + yard + "} 70\n# ", "total counter\nmpm_stalls_total" + yard + "} 3\n# ",
        "mpm_reconnects_total" + yard + "} 2\n", "mpm_outbox_waiting" + yard + "} 0\n",
        "seconds histogram" + bucket + ",le=\"0.01\"} 0" + bucket + ",le=\"0.03\"} 4" + bucket + ",le=\"0.1\"} 4",
        bucket + ",le=\"+Inf\"} 5" + seconds + "_count" + yard + "} 5" + seconds + "_sum" + yard + "} 20.5\n"})
    EXPECT_THAT(text, HasSubstr(lines));
  EXPECT_EQ(camera("state"), "stalled");
  EXPECT_GT(camera("known_until_ms"), kNoon + kDayMs) << "a sample is awaited until now";
  EXPECT_EQ(std::pair(camera("name"), camera("title")), std::pair(Json("yard"), Json("Front yard")));
  live.over = true;
  EXPECT_EQ(camera("state"), "ended");
  EXPECT_EQ(camera("known_until_ms"), kNoon + 1);
  live.failure = "no such camera";
  EXPECT_EQ(camera("state"), "lost");
  live.database = folder_ / "b.db";
  EXPECT_EQ(camera("samples"), 0) << "the file names another one by now";
}

TEST_F(PageTest, ACameraThatOpensIsNotUp) {
  record(path_, {sampleAt(kNoon)});
  std::vector<monitor::CameraStatus> live = {{.name = "gate", .database = path_, .source = "camera 1"},
                                             {.name = "road", .database = folder_ / "none.db", .source = "camera 2"}};
  Page shown({.live = [&] { return live; }});
  for (const monitor::CameraStatus& one : live) {
    const Json cameras = ask(shown, "/api/cameras")["cameras"];
    ASSERT_EQ(cameras.size(), 2);
    const Json camera = cameras[&one - live.data()];
    EXPECT_EQ(std::tuple(camera["name"], camera["state"], camera["samples"]), std::tuple(one.name, "opening", 0));
    const std::string text = metrics(shown);
    EXPECT_THAT(text, HasSubstr("mpm_camera_up{camera=\"" + one.name + "\"} 0\n"));
    EXPECT_THAT(text, Not(HasSubstr("timestamp_seconds{")));
  }
  EXPECT_EQ(ask(shown, "/api/events", {{"camera", "gate"}}, 404)["error"], "nothing is stored of 'gate' yet");
  live[0].session.source.frames_in = 1;
  EXPECT_EQ(ask(shown, "/api/cameras")["cameras"][0]["state"], "online") << "it is measured, and a sample will come";
}

// Also where an earlier run stored samples, which say nothing about the camera of now.
TEST_F(PageTest, TheStateOfACameraThatIsWatchedIsItsWord) {
  record(path_, {sampleAt(kNoon)});
  monitor::CameraStatus live{.name = "yard", .database = path_, .source = "camera 0"};
  Page shown({.live = [&] { return std::vector{live}; }});
  const auto state = [&] { return ask(shown, "/api/cameras")["cameras"][0]["state"]; };
  EXPECT_EQ(state(), "opening") << "its model is read";
  live.session.source.state = monitor::CaptureState::kOpening;
  EXPECT_EQ(state(), "opening");
  live.session.live = false;
  EXPECT_EQ(state(), "online") << "a folder waits for its next picture";
  live.session.live = true;
  live.session.source = {.state = monitor::CaptureState::kLive, .frames_in = 1};
  EXPECT_EQ(state(), "online");
  live.session.store.emplace().writing = false;
  EXPECT_EQ(state(), "not_writing");
  EXPECT_THAT(metrics(shown), HasSubstr("mpm_camera_up{camera=\"yard\"} 0\n"));
}

// The root of the SVG of a request, and its lines. The worlds (tests/worlds) hold each point against its row.
struct Drawing {
  std::string text;
  double number(const std::string& name) const { return mpm::test::svgNumber(text, name); }
  // How many points each line of this colour has.
  std::vector<std::ptrdiff_t> lines(const std::string& color) const {
    std::vector<std::ptrdiff_t> all;
    const std::regex line("<polyline points=\"([^\"]*)\" fill=\"none\" stroke=\"" + color + "\"");
    for (std::sregex_iterator one(text.begin(), text.end(), line), end; one != end; ++one) {
      const std::string points = (*one)[1];
      all.push_back(std::ranges::count(points, ','));
    }
    return all;
  }
};

TEST_F(PageTest, TheChartIsDrawnHere) {
  std::vector<Sample> samples;
  for (int hour = 0; hour < 48; ++hour) {
    if (hour < 20 || hour >= 30)
      samples.push_back(sampleAt(kNoon + hour * kHourMs, hour % 24 >= 12 ? 300 : 400, hour % 24 >= 12));
  }
  for (Sample& one : samples)
    one.states = {{.name = kName, .state = "<open>", .probability = 1, .sure = true, .counted = "<open>"}};
  record(path_, samples, session("camera 0", 3600));
  Page shown = page();
  const auto draw = [&](Arguments more) {
    more.insert({{"camera", "camera 0"},
                 {"quantity", "tokens"},
                 {"from", isoTime(kNoon)},
                 {"to", isoTime(kNoon + 2 * kDayMs)}});
    const Response response = get(shown, "/api/chart.svg", std::move(more));
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(response.type, "image/svg+xml");
    return Drawing{response.body};
  };
  const Drawing light = draw({{"width", "640"}}), dark = draw({{"theme", "dark"}});
  EXPECT_THAT(light.text, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\""));
  EXPECT_EQ(light.number("from"), kNoon);
  EXPECT_EQ(light.number("to"), kNoon + 2 * kDayMs);
  EXPECT_THAT(light.lines("#b25e00"), ElementsAre(12, 6)) << "hours of day until 12, and from 30 to 36";
  EXPECT_THAT(light.lines("#3d56c5"), ElementsAre(8, 12)) << "hours of night from 12 to 20, and from 36 on";
  EXPECT_THAT(dark.lines("#f2ab4e"), ElementsAre(12, 6));
  EXPECT_THAT(dark.text, AllOf(HasSubstr("#1a2029"), Not(HasSubstr("#ffffff"))));
  EXPECT_THAT(light.text, AllOf(HasSubstr("&lt;open&gt;"), HasSubstr("&lt;script&gt;"), HasSubstr(">by night<"),
                                HasSubstr(" UTC</text>")));
  EXPECT_THAT(light.text, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("style")), Not(HasSubstr("\n\n"))));
  EXPECT_THAT(draw({{"to", "2026-05-01T00:00:00Z"}, {"from", "2026-04-01T00:00:00Z"}}).text,
              HasSubstr("no samples in this period"));
  for (const auto& [key, value] :
       {std::pair("width", "100"), {"width", "1e9"}, {"width", "nan"}, {"theme", "<b>"}, {"quantity", "x"}}) {
    Arguments arguments = {{"camera", "camera 0"}, {"quantity", "tokens"}};
    arguments[key] = value;
    ask(shown, "/api/chart.svg", arguments, 400);
  }
}

// A rule of day and night may have come later.
TEST_F(PageTest, TheChartHasWhatIsNeitherDayNorNight) {
  std::vector<Sample> samples;
  for (int hour = 0; hour < 48; ++hour)
    samples.push_back(sampleAt(kNoon + hour * kHourMs, 300, hour < 24 ? std::nullopt : std::optional(hour % 2 == 0)));
  record(path_, samples, session("camera 0", 3600));
  Page shown = page();
  const auto draw = [&](int days) {
    return get(shown, "/api/chart.svg",
               {{"camera", "camera 0"},
                {"quantity", "tokens"},
                {"from", isoTime(kNoon)},
                {"to", isoTime(kNoon + days * kDayMs)}})
        .body;
  };
  EXPECT_THAT(draw(2), AllOf(HasSubstr(">by day<"), HasSubstr(">by night<"), HasSubstr(">not told apart<")));
  EXPECT_THAT(draw(1), AllOf(Not(HasSubstr(">by day<")), HasSubstr(">mean<")));
  const Json answer = ask(
      shown, "/api/series",
      {{"camera", "camera 0"}, {"quantity", "tokens"}, {"from", isoTime(kNoon)}, {"to", isoTime(kNoon + 2 * kDayMs)}});
  EXPECT_EQ(answer["columns"].back(), "neither");
  ASSERT_THAT(answer["rows"], SizeIs(48));
  for (std::size_t i = 0; i < 48; ++i) EXPECT_EQ(answer["rows"][i].back(), i < 24 ? Json(300) : Json()) << i;
  EXPECT_EQ(answer["all"].back(), Json());
}

TEST_F(PageTest, AMeanOfFlagsHasDigits) {
  std::vector<Sample> samples;
  for (int hour = 0; hour < 24; ++hour) {
    samples.push_back(sampleAt(kNoon + hour * kHourMs));
    samples.back().whole().set("flagged", hour < 3);
  }
  record(path_, samples, session("camera 0", 3600));
  Page shown = page();
  const Json answer =
      ask(shown, "/api/series",
          {{"camera", "camera 0"}, {"quantity", "flagged"}, {"from", isoTime(kNoon)}, {"to", isoTime(kNoon + kDayMs)}});
  EXPECT_EQ(answer["digits"], 2);
  EXPECT_EQ(answer["all"][3], 0.125);
}

TEST_F(PageTest, WhatMakesNoSenseIsRefused) {
  record(path_, {sampleAt(kNoon)});
  Page shown = page();
  const Arguments good = {{"camera", "camera 0"}, {"quantity", "tokens"}};
  ask(shown, "/api/series", good);
  const std::tuple<const char*, const char*, int> wrong[] = {
      {"camera", "<b>", 404},  {"quantity", "unicorn", 400},          {"quantity", "", 400}, {"class", "car", 400},
      {"region", "gate", 400}, {"from", "2026-06-01T12:01:00Z", 400}, {"to", "noon", 400}};
  for (const auto& [key, value, status] : wrong) {
    auto arguments = good;
    arguments[key] = value;
    EXPECT_THAT(ask(shown, "/api/series", arguments, status)["error"].get<std::string>(), Not(IsEmpty()));
  }
  ask(shown, "/api/series", {{"camera", "camera 0"}, {"class", "dog"}}, 400);
  for (const char* path : {"/api", "/api/camera", "/../page.html", "", "/page.html"}) ask(shown, path, {}, 404);
}

TEST_F(PageTest, OutagesAreThoseOfTheSpanAndLastAsLongAsTheCameraIsAwaited) {
  {
    RunningWriter writer(path_);
    for (int second = 0; second < 100; ++second)
      if (second < 40 || second > 70) writer.append(sampleAt(kNoon + second * kSecondMs));
    ASSERT_TRUE(writer.flush());
    const Json gap = {{"begin", "2026-06-01T12:00:39.000Z"},
                      {"end", "2026-06-01T12:01:11.000Z"},
                      {"cause", "gap"},
                      {"text", "no samples"}};
    Page alive = page({}, kNoon + 110 * kSecondMs), dead = page({}, kNoon + kHourMs);
    EXPECT_EQ(ask(alive, "/api/outages", {{"camera", "camera 0"}}), Json({gap}));
    const Json silent = {{"begin", "2026-06-01T12:01:39.000Z"},
                         {"end", "2026-06-01T12:59:59.999Z"},
                         {"cause", "gap"},
                         {"text", "no samples"}};
    EXPECT_EQ(ask(dead, "/api/outages", {{"camera", "camera 0"}}), Json({gap, silent}));
    EXPECT_EQ(ask(dead, "/api/outages", {{"camera", "camera 0"}, {"to", "2026-06-01T12:00:30Z"}}), Json::array());
    const Response svg =
        get(dead, "/api/chart.svg", {{"camera", "camera 0"}, {"quantity", "tokens"}, {"from", "2026-06-01T12:00:00Z"}});
    EXPECT_THAT(svg.body, AllOf(HasSubstr(">outages<"), HasSubstr(">no samples<")));
  }
  Page ended = page({}, kNoon + kHourMs);
  EXPECT_EQ(ask(ended, "/api/outages", {{"camera", "camera 0"}}).size(), 1) << "nobody misses what has ended";
}

TEST_F(PageTest, OutagesAreTheLastThousand) {
  std::vector<Sample> samples;
  for (int second = 0; second < 2100; ++second) {
    samples.push_back(sampleAt(kNoon + second * kSecondMs));
    samples.back().whole().set("fogged", second % 2);
  }
  record(path_, samples);
  Page shown = page({}, kNoon + kHourMs);
  const Json outages = ask(shown, "/api/outages", {{"camera", "camera 0"}});
  ASSERT_EQ(outages.size(), 1000u);
  EXPECT_EQ(outages.back(), (Json{{"begin", isoTime(samples.back().time, true)},
                                  {"end", isoTime(samples.back().time, true)},
                                  {"cause", "fogged"},
                                  {"text", "covered or fogged"}}));
}

// Two cameras of one stream and one folder, one of which hides something; and one that is not on this page.
TEST_F(PageTest, PicturesAreOfTheirCamera) {
  const std::string other = folder_ / "b.db";
  record(path_, {sampleAt(kNoon)});
  record(other, {sampleAt(kNoon)});
  shot("2026-06-01T11-00-00.000Z", "camera 0");
  shot("2026-06-01T11-00-01.000Z", "camera 0", 8, StoreReader(other).id());
  shot("2026-06-01T11-00-02.000Z", "camera 0", 8, "0123456789abcdef");
  std::ofstream(shot("2026-06-01T11-00-03.000Z", "camera 0") + ".json") << Json{{"source", "camera 0"}};
  const auto of = [&](const std::vector<std::string>& databases, const std::string& camera) {
    Page shown = page(databases);
    std::vector<std::string> times;
    for (const Json& one : ask(shown, "/api/snapshots", {{"camera", camera}})) times.push_back(one["time"]);
    const Json cameras = ask(shown, "/api/cameras")["cameras"];
    const auto same = std::ranges::find_if(cameras, [&](const Json& one) { return one["name"] == camera; });
    EXPECT_EQ((*same)["pictures"][0]["time"], times.front());
    return times;
  };
  EXPECT_THAT(of({path_, other}, "camera 0"), ElementsAre("2026-06-01T11:00:00.000Z"));
  EXPECT_THAT(of({path_, other}, "camera 0 (2)"), ElementsAre("2026-06-01T11:00:01.000Z"));
  EXPECT_THAT(of({other}, "camera 0"), ElementsAre("2026-06-01T11:00:01.000Z"));
  Page shown = page({other});
  for (const auto& [second, served] : {std::pair(0, false), {1, true}, {2, false}, {3, false}}) {
    const std::string picture = "2026-06-01T11-00-0" + std::to_string(second) + ".000Z.png-0";
    EXPECT_EQ(get(shown, "/api/snapshot/" + picture).status, served ? 200 : 404) << second;
  }
}

// A picture 8 px wide and 4 high, turned by a right angle about its centre and then shifted: what was on the right of
// the centre lies below it.
TEST_F(PageTest, APictureSaysWhereItsRegionsLie) {
  record(path_, {sampleAt(kNoon)});
  shot("2026-06-01T11-00-00.000Z", "camera 0");
  const std::string stem = shot("2026-06-01T11-00-01.000Z", "camera 0");
  Json facts = Json::parse(readFile(stem + ".json"));
  facts["place"] = {{"right_px", 2}, {"down_px", 1}, {"turn_degrees", 90}, {"zoom", 1}};
  writeFileAtomically(stem + ".json", facts.dump());
  Page shown = page();
  const Json pictures = ask(shown, "/api/snapshots", {{"camera", "camera 0"}});
  EXPECT_FALSE(pictures[1].contains("moved"));
  const auto place = [&](double x, double y) {
    std::array<double, 2> to{};
    for (int i = 0; i < 2; ++i) {
      const Json& row = pictures[0]["moved"][i];
      to[i] = row[0].get<double>() * x + row[1].get<double>() * y + row[2].get<double>();
    }
    return to;
  };
  EXPECT_THAT(place(0.5, 0.5), ElementsAre(DoubleNear(0.75, 1e-6), DoubleNear(0.75, 1e-6)));
  EXPECT_THAT(place(0.75, 0.5), ElementsAre(DoubleNear(0.75, 1e-6), DoubleNear(1.25, 1e-6)));
}

// It was some hours ahead for a while, as one that shows local time and is believed to show UTC.
TEST_F(PageTest, APictureOfAClockThatWasWrongIsNotTheLatest) {
  record(path_, {sampleAt(kNoon), sampleAt(kNoon + 2 * kHourMs)});
  shot("2026-06-01T12-00-00.000Z", "camera 0");
  shot("2026-06-01T14-00-00.000Z", "camera 0");
  const auto latest = [&](UnixMs now) {
    Page shown = page({}, now);
    return ask(shown, "/api/cameras")["cameras"][0]["pictures"][0]["time"];
  };
  EXPECT_EQ(latest(kNoon + kMinuteMs), "2026-06-01T12:00:00.000Z") << "as the last sample";
  EXPECT_EQ(latest(kNoon + 2 * kHourMs), "2026-06-01T14:00:00.000Z");
}

TEST_F(PageTest, ASceneHasAClockOfItsOwn) {
  record(path_, {sampleAt(kNoon)});
  record(path_, {sampleAt(kNoon + kDayMs)}, session("demo:street"));
  Page shown = page();
  const Json cameras = ask(shown, "/api/cameras")["cameras"];
  EXPECT_EQ(cameras[0]["own_clock"], false);
  EXPECT_EQ(cameras[1]["own_clock"], true);
  EXPECT_EQ(cameras[1]["last_ms"], kNoon + kDayMs);
  EXPECT_EQ(cameras[1]["known_until_ms"], kNoon + kDayMs + 1);
  EXPECT_EQ(cameras[0]["age"], "60 s ago");
  EXPECT_TRUE(cameras[1]["age"].is_null());
  EXPECT_EQ(cameras[1]["state"], "ended");
}

// Folders may be called anything; the browser asks with the names that the page told it.
TEST_F(PageTest, ANameThatIsNoUtf8IsToldAndAskedFor) {
  const std::string folder = "/g\xe4rten", other = "/g\\xe4rten";  // of the second, each letter is one
  record(path_, {sampleAt(kNoon)}, session(folder));
  record(path_, {sampleAt(kNoon)}, session(other));
  monitor::Sample sample = sampleAt(kNoon - 1000);
  fs::create_directory(folder_ / "shots");
  const auto result =
      monitor::test::resultOf(std::vector<ClassInfo>(4), cv::Mat(8, 8, CV_8UC3, cv::Scalar(10, 20, 30)), kNoon - 1000);
  writeSnapshot(folder_ / "shots", result, sample, {folder, StoreReader(path_).id()});
  Page shown = page();
  const Json cameras = ask(shown, "/api/cameras")["cameras"];
  ASSERT_EQ(cameras.size(), 2u);
  EXPECT_EQ(cameras[0]["name"], "/g\\xe4rten");
  EXPECT_EQ(cameras[1]["name"], "/g\\xe4rten (2)");
  for (const Json& camera : cameras) {
    EXPECT_EQ(ask(shown, "/api/series", {{"camera", camera["name"]}, {"quantity", "tokens"}})["all"][2], 1);
    ask(shown, "/api/events", {{"camera", camera["name"]}});
    ask(shown, "/api/outages", {{"camera", camera["name"]}});
  }
  EXPECT_EQ(ask(shown, "/api/snapshots", {{"camera", cameras[0]["name"]}}).size(), 1u);
}

// What was stored before it was to be hidden.
TEST_F(PageTest, PicturesShowNothingThatIsHiddenByNow) {
  const PrivacyOptions privacy{
      .hidden = {{.name = "left", .size = {8, 4}, .polygons = {{{0, 0}, {3, 0}, {3, 3}, {0, 3}}}}}};
  record(path_, {sampleAt(kNoon)});
  const std::string stem = shot("2026-06-01T11-00-00.000Z", "camera 0");
  cv::imwrite(stem + "_depth_colors.png", cv::Mat(9, 8, CV_8UC3, cv::Scalar(10, 20, 30)));
  const std::string copy = folder_ / "copy.db";
  runSql(path_, "VACUUM INTO '" + copy + "'");
  Page alone = page(), before = page({copy, path_}), behind = page({path_, copy});
  const auto dark = [&](Page& shown, const std::string& ending, Arguments arguments) {
    const std::string body =
        get(shown, "/api/snapshot/2026-06-01T11-00-00.000Z" + ending + "-0", std::move(arguments)).body;
    const cv::Mat picture = cv::imdecode(std::vector<char>(body.begin(), body.end()), cv::IMREAD_COLOR);
    return cv::countNonZero(picture.reshape(1) < 6) / 3;
  };
  EXPECT_EQ(dark(alone, ".png", {}), 0);
  EXPECT_EQ(dark(alone, ".png", {{"thumb", ""}}), 0);
  StoreWriter(path_).setPrivacy("camera 0", privacy.json());
  for (const char* ending : {".png", "_depth_colors.png"}) {
    EXPECT_EQ(dark(alone, ending, {}), 16) << ending;
    EXPECT_NEAR(dark(alone, ending, {{"small", ""}}), 16, 4) << ending;
    EXPECT_NEAR(dark(alone, ending, {{"thumb", ""}}), 16, 4) << ending;
    EXPECT_EQ(dark(before, ending, {}), 16) << "a copy, which hides nothing, is on the page, too";
    EXPECT_EQ(dark(behind, ending, {}), 16);
  }
  const PrivacyOptions right{
      .hidden = {{.name = "right", .size = {8, 4}, .polygons = {{{4, 0}, {7, 0}, {7, 3}, {4, 3}}}}}};
  StoreWriter(copy).setPrivacy("camera 0", right.json());
  for (Page* both : {&before, &behind}) EXPECT_EQ(dark(*both, ".png", {}), 32) << "what either of them hides";
}

// A day is coloured by its mean and shows the picture that is nearest to its moment. The sun of 0 degrees north and
// east stands highest at 12 UTC in June, at about 67 degrees.
TEST_F(PageTest, TheCalendarHasTheDaysAndTheirPictures) {
  monitor::SessionInfo info = session("camera 0", 3600);
  std::vector<Sample> samples;
  for (int day = 0; day < 3; ++day) {
    for (int hour = 0; hour < 12; ++hour) {
      samples.push_back(sampleAt(kNoon + day * kDayMs + hour * kHourMs, 100 + 100 * day + hour));
      samples.back().states = {{.name = kName, .state = "open", .counted = "open"}};
    }
  }
  info.latitude = info.longitude = 0;
  record(path_, samples, info);
  const std::string flagged = shot("2026-06-01T12-00-00.000Z", "camera 0");
  Json facts = Json::parse(readFile(flagged + ".json"));
  facts["flagged"] = 1;
  writeFileAtomically(flagged + ".json", facts.dump());
  for (const char* time : {"01T10-00", "01T12-30", "01T16-00", "03T07-30", "03T17-00"})
    shot("2026-06-" + std::string(time) + "-00.000Z", "camera 0");
  shot("2026-06-02T12-00-00.000Z", "camera 1");
  Page shown = page({}, kNoon + 30 * kDayMs);
  const auto draw = [&](Arguments more, int status = 200) {
    more.insert({{"camera", "camera 0"}, {"from", "2026-06-01T00:00:00Z"}, {"to", "2026-07-01T00:00:00Z"}});
    if (!more.contains("states")) more.insert({"quantity", "tokens"});
    const Response response = get(shown, "/api/calendar.svg", std::move(more));
    EXPECT_EQ(response.status, status) << response.body;
    return response.body;
  };
  const auto valuesIn = [](const std::string& text, const std::string& name) {
    std::vector<std::string> values;
    for (std::size_t at = 0; (at = text.find(" " + name + "=\"", at)) != std::string::npos;) {
      at += name.size() + 3;
      values.push_back(text.substr(at, text.find('"', at) - at));
    }
    return values;
  };
  const std::string noon = draw({});
  EXPECT_THAT(valuesIn(noon, "data-text"),
              ElementsAre("2026-06-01: 105.5, picture of 12:30, the sun at 67°", "2026-06-02: 205.5",
                          "2026-06-03: 305.5, picture of 07:30, the sun at 21°"))
      << "the flagged one is left out, and so is that of another camera";
  EXPECT_THAT(valuesIn(noon, "href"), ElementsAre("snapshot/2026-06-01T12-30-00.000Z.png-0?thumb",
                                                  "snapshot/2026-06-03T07-30-00.000Z.png-0?thumb"));
  EXPECT_THAT(noon, AllOf(HasSubstr(">June 2026<"), HasSubstr("#440154"), HasSubstr("#fde725"), Not(HasSubstr("May"))));
  EXPECT_THAT(valuesIn(draw({{"moment", "sun:20"}}), "data-taken"),
              ElementsAre(std::to_string(*vision::timeOfIso("2026-06-01T10:00:00Z")),
                          std::to_string(*vision::timeOfIso("2026-06-03T07:30:00Z"))))
      << "in the morning";
  EXPECT_THAT(valuesIn(draw({{"moment", "16:00"}}), "data-text")[0], HasSubstr("picture of 16:00"));
  EXPECT_THAT(draw({{"states", kName}, {"state", "ajar"}}, 400), HasSubstr("state: there is no 'ajar'"));
  EXPECT_THAT(draw({{"states", "gate"}, {"state", "open"}}, 400), HasSubstr("states: there is no 'gate'"));
  EXPECT_THAT(draw({{"moment", "dawn"}}, 400), HasSubstr("moment: 'dawn'"));
  EXPECT_THAT(draw({{"to", "2028-01-01T00:00:00Z"}}, 400), HasSubstr("at most 400 days"));
  EXPECT_THAT(draw({{"quantity", "x"}}, 400), HasSubstr("name a quantity"));
  EXPECT_THAT(draw({{"theme", "dark"}}), HasSubstr("#e7ebf1"));

  const Response thumb = get(shown, "/api/snapshot/2026-06-01T12-30-00.000Z.png-0", {{"thumb", ""}});
  EXPECT_EQ(thumb.type, "image/jpeg");
  const auto near = [&](const char* time) {
    const Json found =
        ask(shown, "/api/snapshots",
            {{"camera", "camera 0"}, {"from", "2026-06-01T00:00:00Z"}, {"to", "2026-06-02T00:00:00Z"}, {"near", time}});
    return found.empty() ? "" : found.at(0).at("time").get<std::string>();
  };
  EXPECT_EQ(near("2026-06-01T13:00:00Z"), "2026-06-01T12:30:00.000Z");
  EXPECT_EQ(near("2026-06-01T09:00:00Z"), "2026-06-01T10:00:00.000Z");
}

TEST_F(PageTest, OnlyListedPicturesAreServed) {
  record(path_, {sampleAt(kNoon)});
  const std::string stem = shot("2026-06-01T12-00-00.250Z", "camera 0", 2000);
  for (const char* ending : {"_overlay.png", "_depth.png", "_depth_colors.png", "_merge.png"})
    cv::imwrite(stem + ending, cv::Mat(8, 8, CV_8UC3, cv::Scalar()));
  shot("2026-06-01T11-00-00.000Z", "camera 0");
  shot("2026-06-01T12-00-01.000Z", "camera 1");
  std::ofstream(folder_ / "secret.png") << "secret";
  fs::create_symlink(folder_ / "secret.png", folder_ / "shots/2026-06-01T12-00-02.000Z.png");
  Page shown = page();
  const Json list = ask(shown, "/api/snapshots", {{"camera", "camera 0"}});
  const std::string name = "2026-06-01T12-00-00.250Z", id = name + ".png-0";
  const Json latest = {{"time", "2026-06-01T12:00:00.250Z"},
                       {"overlay", name + "_overlay.png-0"},
                       {"merge_map", name + "_merge.png-0"},
                       {"depth", name + "_depth_colors.png-0"},
                       {"frame", id}};
  EXPECT_EQ(list, Json({latest, {{"time", "2026-06-01T11:00:00.000Z"}, {"frame", "2026-06-01T11-00-00.000Z.png-0"}}}));
  EXPECT_EQ(ask(shown, "/api/cameras")["cameras"][0]["pictures"], Json::array({latest}));
  EXPECT_EQ(ask(shown, "/api/snapshots", {{"camera", "camera 0"}, {"to", "2026-06-01T12:00:00.250Z"}}).size(), 1);
  EXPECT_EQ(ask(shown, "/api/snapshots", {{"camera", "camera 0"}, {"from", "2026-06-01T11:00:00.001Z"}}).size(), 1);
  const Response whole = get(shown, "/api/snapshot/" + id);
  EXPECT_EQ(whole.body, readFile(stem + ".png"));
  EXPECT_EQ(whole.type, "image/png");
  const Response small = get(shown, "/api/snapshot/" + id, {{"small", ""}});
  EXPECT_EQ(small.type, "image/jpeg");
  EXPECT_EQ(cv::imdecode(std::vector<char>(small.body.begin(), small.body.end()), cv::IMREAD_COLOR).size(),
            cv::Size(800, 400));
  for (const std::string& other :
       {name, name + ".png", name + ".json-0", name + ".png-1", id + "/", "/" + id, std::string("../secret.png-0"),
        std::string("../secret.png"), stem + ".png", std::string("2026-06-01T12-00-02.000Z.png-0"), std::string()})
    ask(shown, "/api/snapshot/" + other, {}, 404);
}

TEST_F(PageTest, WhoIsNotAllowedSeesThePageAlone) {
  record(path_, {sampleAt(kNoon)});
  shot("2026-06-01T12-00-00.250Z", "camera 0");
  Page shown = page();
  for (const char* path : {"/api/cameras", "/api/series", "/api/chart.svg", "/api/calendar.svg",
                           "/api/snapshot/2026-06-01T12-00-00.250Z.png-0", "/metrics", "/x"})
    EXPECT_EQ(shown.answer({.path = path, .arguments = {{"camera", "camera 0"}}}).status, 401) << path;
  for (const auto& [path, type] : {std::pair("/", "text/html"),
                                   {"/page.js", "text/javascript"},
                                   {"/page.css", "text/css"},
                                   {"/icon.svg", "image/svg+xml"}}) {
    const Response response = shown.answer({.path = path, .arguments = {}});
    EXPECT_THAT(response.type, StartsWith(type));
    EXPECT_THAT(response.body, HasSubstr("SPDX-License-Identifier"));
    const std::string body = std::regex_replace(response.body, std::regex("http://www.w3.org/2000/svg"), "");
    EXPECT_THAT(body, Not(HasSubstr("http"))) << "nothing comes from elsewhere";
  }
}

TEST_F(PageTest, MetricsEscapeNames) {
  monitor::SessionInfo info = session("rtsp://***@camera/\"1\"");
  info.classes = {kName, "car", "sky", kName};
  Sample sample =
      sampleAt(kNoon, 377, false, {.rows = 0.25, .quality = monitor::PictureQuality{.flags = monitor::kBlurred}});
  record(path_, {sample}, info);
  Page shown = page();
  const std::string text = metrics(shown);
  const std::string camera = R"({camera="rtsp://***@camera/\"1\"")";
  for (const std::string& line :
       {"mpm_stored_samples" + camera + "} 1\n", "mpm_last_frame_timestamp_seconds" + camera + "} 1780315200\n",
        "mpm_tokens" + camera + ",region=\"\"} 377\n", "mpm_rows_computed_ratio" + camera + "} 0.25\n",
        "mpm_picture_flag" + camera + ",flag=\"blurred\"} 1\n", "mpm_picture_flag" + camera + ",flag=\"dark\"} 0\n",
        "mpm_class_area_ratio" + camera + R"(,class="car",region=""} 0)" + "\n",
        "mpm_class_area_ratio" + camera + R"(,class="<script>alert(\"1\")</script>\\\\n",region=""} )"})
    EXPECT_TRUE(text.find(line) != std::string::npos && text.find(line) == text.rfind(line)) << line;
  std::map<std::string, int> names;
  for (std::size_t at = 0; (at = text.find("# TYPE ", at)) != std::string::npos; ++at)
    ++names[text.substr(at, text.find('\n', at) - at)];
  EXPECT_THAT(names, Each(Pair(::testing::_, 1)));
}

TEST_F(PageTest, ABadSourceIsNamedAndTheOthersAreShown) {
  record(path_, {sampleAt(kNoon)}, session(), {regionNamed("gate")});
  record(folder_ / "b.db", {sampleAt(kNoon)}, session("camera 1"));
  runSql(path_, "UPDATE region SET shape = '{\"x\": 1}'");
  Page shown = page({path_, folder_ / "b.db"});
  const Json json = ask(shown, "/api/cameras");
  ASSERT_EQ(json["cameras"].size(), 2);
  EXPECT_EQ(json["cameras"][0]["state"], "lost");
  EXPECT_EQ(json["cameras"][0]["name"], "camera 0");
  EXPECT_EQ(json["cameras"][0]["title"], "camera 0");
  EXPECT_EQ(json["cameras"][0]["samples"], Json()) << "how many is not known";
  EXPECT_EQ(json["cameras"][1]["sample"]["tokens"], 377);
  EXPECT_EQ(json["problems"].size(), 1);
  EXPECT_THAT(json["problems"][0].get<std::string>(),
              AllOf(HasSubstr("camera 0: "), HasSubstr("region 1 of '" + path_)));
  EXPECT_THAT(metrics(shown), AllOf(HasSubstr("mpm_camera_up{camera=\"camera 0\"} 0\n"),
                                    HasSubstr("mpm_tokens{camera=\"camera 1\",region=\"\"} 377\n")));
}

TEST_F(PageTest, ADatabaseThatTakesTooLongIsAProblem) {
  record(path_, {sampleAt(kNoon)});
  Page shown({.databases = {path_}, .now = [] { return kNoon; }, .patience_ms = -1});
  const Json json = ask(shown, "/api/cameras");
  EXPECT_EQ(json["cameras"], Json::array());
  ASSERT_EQ(json["problems"].size(), 1);
  EXPECT_THAT(json["problems"][0].get<std::string>(), HasSubstr("a.db': it takes too long to read"));
}

// What another program put into a database runs no code in this one.
TEST_F(PageTest, AnEndlessViewIsNoTable) {
  for (const char* table : {"source", "sample", "session", "region", "region_sample", "bucket", "event"}) {
    record(path_, {sampleAt(kNoon)});
    record(folder_ / "b.db", {sampleAt(kNoon)}, session("camera 1"));
    const std::string of = table;
    runSql(path_, "ALTER TABLE " + of + " RENAME TO kept; CREATE VIEW " + of +
                      " AS WITH RECURSIVE endless(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless)"
                      " SELECT kept.* FROM endless, kept");
    Page shown = page({path_, folder_ / "b.db"});
    const Json json = ask(shown, "/api/cameras");
    EXPECT_EQ(json["cameras"].back()["sample"]["tokens"], 377) << table;
    ask(shown, "/api/events", {{"camera", "camera 0"}}, of == "event" ? 500 : of.starts_with("region") ? 200 : 404);
    for (const char* ending : {"", "-wal", "-shm"}) fs::remove(path_ + ending);
  }
}

TEST_F(PageTest, AModelMayHaveAnyNumberOfClasses) {
  monitor::SessionInfo info = session();
  info.classes.clear();
  for (int i = 0; i < 50'000; ++i) info.classes.push_back("class " + std::to_string(i));
  Sample sample = sampleAt(kNoon);
  sample.whole().areas.clear();
  for (int i = 0; i < 40'000; ++i) sample.whole().areas.emplace_back(i, 1.0 / 65536);
  record(path_, {sample}, info);
  Page shown = page();
  EXPECT_FLOAT_EQ(ask(shown, "/api/cameras")["cameras"][0]["sample"]["area_fraction"]["class 39999"], 1.0 / 65536);
  const std::string text = metrics(shown);
  EXPECT_THAT(text, HasSubstr("class=\"class 49999\",region=\"\"} 0\n"));
}

TEST_F(PageTest, AClassOfWhichNothingIsSeenHasAnAreaOfZero) {
  Sample sample = sampleAt(kNoon);
  sample.whole().areas.clear();  // as a model of boxes gives it where nothing is
  record(path_, {sample});
  Page shown = page();
  EXPECT_THAT(metrics(shown), HasSubstr("class=\"car\",region=\"\"} 0\n"));
}

TEST_F(PageTest, OfManySourcesTheLatestAreShown) {
  monitor::StoreWriter writer(path_);
  for (int i = 0; i < 502; ++i) {
    writer.beginSession(session("camera " + std::to_string(i)));
    writer.append(sampleAt(kNoon + (i == 7 || i == 500 ? -kHourMs : 0)));
  }
  ASSERT_TRUE(writer.flush());
  Page shown = page();
  const Json json = ask(shown, "/api/cameras");
  EXPECT_EQ(json["cameras"].size(), 500);
  for (const Json& one : json["cameras"]) EXPECT_EQ(one["last_ms"], kNoon) << one["name"];
  EXPECT_THAT(json["problems"][0].get<std::string>(), HasSubstr("there are 502 sources"));
  EXPECT_EQ(ask(shown, "/api/events", {{"camera", "camera 7"}}), Json::array()) << "who asks for it gets it";
}

TEST_F(PageTest, APictureThatIsTooLargeIsNotRead) {
  record(path_, {sampleAt(kNoon)});
  const std::string id = "2026-06-01T12-00-00.000Z.png-0",
                    sparse = shot("2026-06-01T12-00-00.000Z", "camera 0") + ".png";
  fs::resize_file(sparse, std::uintmax_t{3} << 30);
  Page shown = page();
  for (const char* how : {"small", "large"}) {
    EXPECT_THAT(ask(shown, "/api/snapshot/" + id, {{how, ""}}, 500)["error"].get<std::string>(),
                HasSubstr("it is larger than 256 MiB"));
  }
  std::ofstream(sparse) << std::string("\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x40\0\0\0\x40\0\x08\x06\0\0\0", 29);
  EXPECT_THAT(ask(shown, "/api/snapshot/" + id, {{"small", ""}}, 500)["error"].get<std::string>(),
              HasSubstr("it has more than 100 million pixels"));
}

// A year of a sample a minute of each of eight cameras. Prints how long each answer takes.
TEST(PageSpeed, LongYearOfEightCameras) {
  const mpm::test::TemporaryFolder folder;
  monitor::StoreWriter writer(folder / "year.db", {.commit_s = 0.001, .max_pending = 50'000'000});
  for (int camera = 0; camera < 8; ++camera) {
    writer.beginSession(session("camera " + std::to_string(camera)));
    for (UnixMs time = kNoon - 365 * kDayMs; time < kNoon; time += kMinuteMs) {
      writer.append(sampleAt(time, 300 + static_cast<double>(time / kMinuteMs % 97), time / kHourMs % 24 < 6));
      ASSERT_TRUE(time % kDayMs != 0 || writer.flush());
    }
  }
  ASSERT_TRUE(writer.flush());
  Page page({.databases = {folder / "year.db"}, .now = [] { return kNoon; }});
  for (const char* path : {"/api/cameras", "/metrics", "/api/series", "/api/chart.svg", "/api/calendar.svg",
                           "/api/events", "/api/states", "/api/outages", "/api/snapshots"}) {
    for (const int days : {1, 7, 30, 365}) {
      const auto start = std::chrono::steady_clock::now();
      const Response response = page.answer(
          {.path = path,
           .arguments = {{"camera", "camera 5"}, {"quantity", "tokens"}, {"from", isoTime(kNoon - days * kDayMs)}},
           .allowed = true});
      const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
      EXPECT_EQ(response.status, 200) << response.body;
      std::cout << path << ", " << days << " days: " << took.count() << " ms, " << response.body.size() << " bytes\n";
    }
  }
}

}  // namespace
}  // namespace mpm::page
