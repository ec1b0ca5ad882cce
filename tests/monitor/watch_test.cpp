// SPDX-License-Identifier: Apache-2.0
#include "monitor/watch/camera_config.h"

#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <set>
#include <sstream>

#include "monitor/every_field.h"
#include "monitor/samples.h"
#include "monitor/watch/camera.h"
#include "monitor/watch/camera_plan.h"
#include "monitor/watch/model_settings.h"
#include "mpm/convert.hpp"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::monitor::test {
namespace {

using mpm::test::TemporaryFolder;

class WatchFile : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string file_ = folder_ / "yard.toml";

  CameraConfig read(const std::string& text) {
    std::ofstream(file_) << text;
    return readWatchFile(file_).cameras.front().config;
  }
};

TEST_F(WatchFile, HoldsEveryField) {
  const CameraConfig all = everyField(folder_.path());
  for (const CameraField& field : cameraFields())
    std::visit([&](auto member) { EXPECT_NE(all.*member, CameraConfig().*member) << field.key; }, field.member);
  EXPECT_EQ(read(watchText({all})), all);
  EXPECT_EQ(read(watchText({all}, {}, true)), all);
  EXPECT_EQ(watchText({read(watchText({all}))}), watchText({all}));
  const CameraConfig none = read(watchText({CameraConfig()}, {}, true));
  EXPECT_EQ(none, CameraConfig()) << "comments say nothing";
}

TEST_F(WatchFile, HoldsSeveralCamerasAndWhatIsAboutAll) {
  const std::string cameras = watchText({{.source = "0", .db = "/a.db"}, everyField(folder_.path())});
  std::ofstream(file_) << cameras << kEveryTable;
  const auto [watches, tables] = readWatchFile(file_);
  EXPECT_EQ(watchText({watches.at(0).config, watches.at(1).config}, tables), cameras + kEveryTable);
  const auto expectEvery = [](const auto& table) {
    for (const auto& field : fieldsOf(table)) {
      std::visit(
          [&](auto member) { EXPECT_TRUE(table.*member != std::decay_t<decltype(table.*member)>()) << field.key; },
          field.member);
    }
  };
  expectEvery(tables.mqtt);
  expectEvery(tables.webhook);
  EXPECT_THAT(watchText({CameraConfig()}, {}, true), HasSubstr("\n# [webhook]\n# url = URL\n#   POST each"));
}

// Each is refused with the line and the key.
TEST_F(WatchFile, RefusesWhatMakesNoSense) {
  const std::pair<const char*, const char*> cases[] = {
      {"[[camera]]\nevry = 1\n", "yard.toml', line 2: there is no key 'evry'"},
      {"[[camera]]\n\nevery = \"1\"\n", "line 3: every: expected a number"},
      {"[[camera]]\nevery = -1\n", "line 2: every: -1 is not a number from 0 to 86400"},
      {"[[camera]]\ntimeout = 2e6\n", "line 2: timeout: 2000000 is more than 1000000"},
      {"[[camera]]\nevery = nan\n", "line 2: every: nan is not a number"},
      {"[[camera]]\nsource = 0\n", "line 2: source: expected a text in quotes"},
      {"[[camera]]\nfollow = 1\n", "line 2: follow: expected true or false"},
      {"[[camera]]\nalarm = \"car>20\"\n", "line 2: alarm: expected a list of texts"},
      {"[[camera]]\nalarm = [\"car>20\",\n\"car\"]\n", "line 2: alarm: 'car' is no alarm such as"},
      {"[[camera]]\nnight = \"moon\"\n", "line 2: night: 'moon' is not one of none|sun|brightness|hours"},
      {"[[camera]]\nreduce = \"most\"\n", "line 2: reduce: "},
      {"[[camera]]\ndb = \"\"\n", "line 2: db: expected a text"},
      {"[[camera]]\ndb = \"a.db\"\ndb = \"b.db\"\n", "line 3: "},
      {"[[camera]]\nname = \"Yard\"\n", "line 2: name: 'Yard' is no name of a camera"},
      {"[[camera]]\nsource = '0'\n[[camera]]\nname = 'video0'\n", "line 3: a camera above is named 'video0' too"},
      {"every = 1\n[[camera]]\n", "line 1: 'every' stands outside of a camera"},
      {"[camera]\nevery = 1\n", "line 1: 'camera' stands outside of a camera"},
      {"[[camera]\n", "line 1: "},
      {"[mqtt]\nhost = 'a'\n", "line 2: there is no key 'host'"},
      {"[mqtt]\naddress = 'a:x'\n", "line 2: address: 'a:x' is no address such as"},
      {"[mqtt]\naddress = '[::1'\n", "line 2: address: '[::1' is no address"},
      {"[mqtt]\nprefix = 'a/b'\n", "line 2: prefix: 'a/b' has other letters than"},
      {"[[mqtt]]\naddress = 'a'\n", "line 1: 'mqtt' stands outside"},
      {"[webhook]\nurl = 'file:///etc'\n", "line 2: url: 'file:///etc' does not begin with https://"},
      {"[[camera]]\nthreads = 1.5\n", "line 2: threads: 1.5 is not a whole number"},
      {"[[camera]]\nsummary = 6.5\n", "line 2: summary: 6.5 is not a whole number"},
      {"[[camera]]\nstate-after = 1.5\n", "line 2: state-after: 1.5 is not a whole number"},
      {"[[camera]]\n[mqtt]\naddress = 'a'\npassword-file = 'p'\n", "line 4: password-file: needs 'user'"},
      {"[webhook]\nurl = 'https://a/?token=***'\n", "line 2: url: its password was not written down"},
      {"# nothing\n", "yard.toml' has no camera"}};
  for (const auto& one : cases) EXPECT_MPM_ERROR(read(one.first), one.second) << one.first;
  EXPECT_MPM_ERROR(readWatchFile(folder_ / "none.toml"), "none.toml");
  EXPECT_MPM_ERROR(watchText({{.db = "\xff.db"}}), "UTF-8");
}

// The limits themselves are taken. What lies beyond them by the least that the field can say is refused.
TEST_F(WatchFile, NumbersHaveTheirLimits) {
  const std::tuple<const char*, double, double, double> limits[] = {
      {"every", 0, 86400, 0.001},        {"timeout", 0.01, 1e6, 0.001},       {"threads", 1, 4096, 1},
      {"min-score", 0, 1, 0.001},        {"min-overlap", 0, 1, 0.001},        {"lat", -90, 90, 0.001},
      {"lon", -180, 180, 0.001},         {"night-elevation", -18, 10, 0.001}, {"night-brightness", 0, 255, 0.001},
      {"day-brightness", 0, 255, 0.001}, {"state-after", 1, 1000, 1},         {"keep", 0, 1e6, 0.001},
      {"max-size", 0, 1e9, 0.001},       {"snapshot-every", 0, 1e6, 0.001},   {"keep-snapshots", 0, 1e6, 0.001},
      {"min-free", 0, 1e9, 0.001},       {"alarm-minutes", 0, 1e6, 0.001},    {"summary", 0, 23, 1},
      {"mqtt every", 0, 86400, 0.001}};
  std::set<std::string> tested;
  for (const auto& [said, least, most, step] : limits) {
    const std::string key = std::string(said).substr(std::string(said).find(' ') + 1);
    tested.insert(said);
    const auto reading = [&, &said = said, &step = step](double value) {
      std::ostringstream text;  // in full, and a whole number without a point
      if (step == 1)
        text << static_cast<long>(value);
      else
        text << std::fixed << value;
      return (key == said ? "[[camera]]\n" : "[[camera]]\n[mqtt]\n") + key + " = " + text.str() + "\n";
    };
    for (const double value : {least, most}) EXPECT_NO_THROW(read(reading(value))) << reading(value);
    for (const double value : {least - step, most + step})
      EXPECT_MPM_ERROR(read(reading(value)), key + ": ") << reading(value);
  }
  for (const CameraField& field : cameraFields()) {
    if (field.limits.min < field.limits.max) {
      EXPECT_EQ(tested.count(field.key), 1u) << field.key;
    }
  }
}

// toml++ recurses once for each part of a key, and so do the tables that it makes.
TEST_F(WatchFile, WhatIsNestedDeepIsRefusedBeforeItIsParsed) {
  const auto times = [](int count, const std::string& text) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
  };
  const std::string dots = times(100'000, "a.") + "a", camera = "[[camera]]\n# a comment. of... . . . . . . . .\n";
  for (const std::string& deep : {dots + " = 1\n", "[" + dots + "]\n", "[[" + dots + "]]\n", "a = {" + dots + " = 1}\n",
                                  "a = " + times(100'000, "[") + "\n", "a = " + times(100'000, "{a=") + "\n",
                                  times(100'000, "a . ") + "a = 1\n", times(50'000, "'a'.\"\\\"\".") + "a = 1\n"})
    EXPECT_MPM_ERROR(read(camera + deep), "line 3: nested too deep") << deep.substr(0, 100);
  EXPECT_MPM_ERROR(read(camera + "source = '''\n'" + times(9, ".[\n") + "'''\n" + dots + "=1\n"),
                   "line 14: nested too deep");
  EXPECT_MPM_ERROR(read("[[camera]]\nsource = '" + times(9000, "a") + "'\n"), "source: a text of over 8192 bytes");
  const std::string source = "a.b.c.d.e.f.g.h.i.j.k.l[[[[[[[[[[[[#";
  for (const char* quote : {"'", "\"", "'''", "\"\"\""}) {
    const CameraConfig config =
        read(camera + "alarm = [\n  'car>1.5', # 0.1.2.3.4.5.6.7.8.9\n  'car>2.5',\n]\nlat = 1.5\nsource = " + quote +
             "demo:" + source + quote + "\nlon = 2.5 # it's [\"\n");
    EXPECT_EQ(std::tuple(config.source, config.lat, config.lon, config.alarm.size()),
              std::tuple("demo:" + source, 1.5, 2.5, 2))
        << quote;
  }
}

TEST_F(WatchFile, RelativePathsCountFromItsFolder) {
  fs::create_directory(folder_ / "pictures");
  const CameraConfig config = read(
      "[[camera]]\nsource = 'pictures'\nmodel = 'm.onnx'\ndb = '/x/a.db'\nregions = 'none'\nhide = 'none'\ntimes = "
      "'list:t.csv'\n"
      "states = ['s/gate.json']\n");
  EXPECT_EQ(config.source, folder_ / "pictures");
  EXPECT_EQ(config.model, folder_ / "m.onnx");
  EXPECT_EQ(config.db, "/x/a.db");
  EXPECT_EQ(config.regions, "none");
  EXPECT_EQ(config.hide, "none");
  EXPECT_EQ(config.times, "list:" + folder_ / "t.csv");
  EXPECT_EQ(config.states, std::vector<std::string>{folder_ / "s/gate.json"});
  EXPECT_EQ(read("[[camera]]\nsource = '0'\n").source, "0");
}

TEST(Watch, ACameraIsNamedAfterItsSource) {
  const std::pair<const char*, const char*> cases[] = {
      {"0", "video0"},
      {"/dev/video12", "video12"},
      {"rtsp://anna:geheim@Yard.local:554/stream?channel=1", "yard-local-554-stream-channel-1"},
      {"http://yard/1/", "yard-1"},
      {"demo:street?weather=rain", "demo-street-weather-rain"},
      {"demo:", "demo"},
      {"/films/Süd Tor.mp4", "s-d-tor-mp4"},
      {"", "camera"},
      {"Ä", "camera"}};
  for (const auto& [source, name] : cases) EXPECT_EQ(cameraName({.source = source}), name) << source;
  EXPECT_EQ(cameraName({.name = "gate", .source = "0"}), "gate");
  EXPECT_EQ(cameraName({.source = "http://" + std::string(100, 'a')}), std::string(64, 'a'));
}

TEST(Watch, NightIsByOneRule) {
  EXPECT_TRUE(std::holds_alternative<std::monostate>(nightRule({})));
  EXPECT_EQ(std::get<NightBySun>(nightRule({.lat = 48, .lon = 11})).night_below, -6);
  EXPECT_EQ(std::get<NightBySun>(nightRule({.lat = 48, .lon = 11, .night_elevation = -2})).night_below, -2);
  const auto dark = std::get<NightByBrightness>(nightRule({.night = "brightness", .lat = 48, .lon = 11}));
  EXPECT_EQ(dark.night_below, 40) << "the place may be known all the same";
  EXPECT_EQ(dark.day_above, 57);
  EXPECT_EQ(dark, NightByBrightness()) << "the rule of the code is that of the options";
  EXPECT_EQ(std::get<NightByBrightness>(nightRule({.night_brightness = 100})), (NightByBrightness{100, 135}));
  EXPECT_EQ(std::get<NightByBrightness>(nightRule({.night_brightness = 240})).day_above, 255);
  EXPECT_EQ(std::get<NightByHours>(nightRule({.night_hours = "21:00-06:30"})).to, 390);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(nightRule({.night = "none", .lat = 48, .lon = 11})));
  const std::tuple<CameraConfig, const char*, const char*> wrong[] = {
      {{.lat = 48}, "lat", "both, lat and lon"},
      {{.night = "sun", .lon = 11}, "lon", "both, lat and lon"},
      {{.night = "sun"}, "night", "both, lat and lon"},
      {{.lat = 48, .lon = 11, .night_brightness = 60}, "night", "several rules"},
      {{.night = "hours"}, "night-hours", "from when to when"},
      {{.night_brightness = 60, .day_brightness = 50}, "night-brightness", "day must begin"}};
  for (const auto& [config, key, why] : wrong) {
    try {
      (void)nightRule(config);
      ADD_FAILURE() << why;
    } catch (const CameraConfigError& error) {
      EXPECT_EQ(error.key, key);
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  }
}

TEST(Watch, WhatIsAboutPicturesNeedsTheirFolder) {
  for (const CameraConfig& more :
       {CameraConfig{.snapshot_every = 5}, {.keep_snapshots = 9}, {.min_free = 9}, {.merge_maps = true}}) {
    CameraConfig config{.source = "0", .db = "a.db"};
    take(config, more);
    EXPECT_MPM_ERROR(checkConfig(config), "needs 'snapshots'");
    config.snapshots = "shots";
    EXPECT_NO_THROW(checkConfig(config));
  }
}

TEST(Watch, WhatIsNotSaidAboutPrivacyStaysAsItIsStored) {
  const auto said = [](const CameraConfig& config) { return cameraPlan(config).privacy; };
  EXPECT_FALSE(said({.source = "0"}).hidden);
  EXPECT_FALSE(said({.source = "0"}).blurred);
  EXPECT_THAT(said({.source = "0", .hide = "none"}).hidden, testing::Optional(IsEmpty()));
  EXPECT_FALSE(said({.source = "0", .hide = "none"}).blurred);
  EXPECT_THAT(said({.source = "0", .blur = {"none"}}).blurred, testing::Optional(IsEmpty()));
  EXPECT_THAT(said({.source = "0", .blur = {"car", "none"}}).blurred, testing::Optional(ElementsAre("car", "none")));
  EXPECT_FALSE(said({.source = "0", .blur = {"car"}}).hidden);
}

TEST_F(WatchFile, ACameraGoesOnWithWhatIsStoredWhereNothingIsSaid) {
  const std::string path = folder_ / "a.db", model = folder_ / "vit.onnx", pictures = folder_ / "pictures";
  std::ofstream(model) << "x";
  fs::create_directory(pictures);
  StoreWriter writer(path);
  for (const std::string& source : {std::string("rtsp://yard/1"), pictures}) {
    SessionInfo info;
    info.source = source;
    info.model = model;
    info.reduce = "mpm:blocks=1,2";
    info.precision = "bf16";
    info.settings = "input-size=64x32:refine=guided:min-score=0.3:min-overlap=0.5:of-a-later-version=1";
    info.time_zone = "+09:00";
    info.times = source == pictures ? "exif" : "";
    info.latitude = 48;
    info.longitude = 11;
    writer.beginSession(info, source == pictures ? std::optional(kNoon) : std::nullopt);
    writer.append(sampleAt(kNoon));
    if (source != pictures) continue;
    info.latitude = info.longitude = std::nullopt;  // a run whose nights are told by their brightness
    writer.beginSession(info, kNoon + kHourMs);
    writer.append(sampleAt(kNoon + kHourMs));
  }
  ASSERT_TRUE(writer.flush());
  const StoreReader stored(path);

  const auto of = [&](CameraConfig said) { return continued(std::move(said), stored); };
  const CameraConfig yard = of({.source = "rtsp://yard/1"});
  EXPECT_EQ(yard, (CameraConfig{.source = "rtsp://yard/1",
                                .model = model,
                                .reduce = "mpm:blocks=1,2",
                                .refine = "guided",
                                .input_size = "64x32",
                                .precision = "bf16",
                                .min_score = 0.3,
                                .min_overlap = 0.5}))
      << "of a camera a person says the place";
  const CameraConfig said{
      .source = "rtsp://yard/1", .reduce = "none", .refine = "none", .threads = 3, .min_score = 0.25};
  CameraConfig expected = yard;
  take(expected, said);
  EXPECT_EQ(of(said), expected);
  const CameraConfig other_model{.source = "rtsp://yard/1", .model = "other.onnx"},
      other_source{.source = "rtsp://yard/2"};
  EXPECT_EQ(of(other_model), other_model) << "a reduction belongs to its model, and so do the settings";
  EXPECT_EQ(of(other_source), other_source);

  const CameraConfig archive = of({.source = pictures});
  EXPECT_EQ(std::tuple(archive.time_zone, archive.times, archive.lat, archive.lon),
            std::tuple("+09:00", "exif", 48, 11))
      << "the latest place that was said, as for films and calendars";
  const CameraConfig by_hours = of({.source = pictures, .times = "auto", .night_hours = "20:00-06:00"});
  EXPECT_EQ(std::pair(by_hours.time_zone, by_hours.times), std::pair(std::string("+09:00"), std::string("auto")));
  EXPECT_FALSE(by_hours.lat) << "no sun is asked";
  EXPECT_EQ(of({.source = pictures, .time_zone = "UTC", .lat = 10, .lon = 20}).time_zone, "UTC");

  EXPECT_TRUE(cameraOf({.source = "rtsp://yard/1"}, &stored).session.choose_reuse);
  EXPECT_FALSE(cameraOf({.source = pictures}, &stored).session.choose_reuse) << "pictures are far apart";
  const Camera next = cameraOf({.source = "rtsp://yard/1"}, &stored);
  EXPECT_EQ(std::pair(next.name, next.session.model), std::pair(std::string("yard-1"), model));
  EXPECT_EQ(cameraOf({.source = pictures}, &stored).plan.archiveClock()->zone(), "+09:00");
  EXPECT_EQ(cameraOf({.source = "rtsp://yard/1"}, nullptr).session.model, "");
  fs::remove(model);
  EXPECT_MPM_ERROR(cameraOf({.source = "rtsp://yard/1"}, &stored), "is not there any more");
}

// Each field arrives where it is read.
TEST_F(WatchFile, WhatIsSaidReachesTheSession) {
  const std::string folder = folder_.path();
  const SessionOptions session = sessionOptions(everyField(folder));
  EXPECT_EQ(session.model, folder + "/a vit.onnx");
  EXPECT_EQ(session.database, folder + "/été.db");
  EXPECT_EQ(session.title, "The yard, \"north\"");
  EXPECT_EQ(session.inference.reduce, parseReduction("gradual:count=48"));
  EXPECT_EQ(session.inference.refine, Refine::kGuided);
  EXPECT_EQ(session.inference.reuse, parseReuse("threshold=12"));
  EXPECT_EQ(session.inference.input_size, (Size2{64, 96}));
  EXPECT_EQ(session.inference.precision, Precision::kBf16);
  EXPECT_EQ(session.inference.device, "auto");
  EXPECT_EQ(session.inference.threads, 2);
  EXPECT_EQ(session.inference.min_score, 0.1);
  EXPECT_EQ(session.inference.min_overlap, 1.0 / 3);
  EXPECT_TRUE(session.inference.features) << "states are read from tokens";
  EXPECT_FALSE(session.choose_reuse);
  EXPECT_EQ(session.store.keep_days, 365);
  EXPECT_EQ(session.store.max_megabytes, 2000);
  EXPECT_EQ(session.snapshots.folder, folder + "/shots");
  EXPECT_EQ(session.snapshots.every_minutes, 15);
  EXPECT_EQ(session.snapshots.keep_days, 90);
  EXPECT_EQ(session.snapshots.min_free_megabytes, 500);
  EXPECT_TRUE(session.snapshots.merge_maps);
  EXPECT_THAT(session.on_event, ElementsAre("sh", "-c", "echo \"$MPM_EVENT_KIND\\n\""));

  const SessionOptions little = sessionOptions({.source = "0", .db = "a.db", .snapshots = "s", .keep = 7});
  EXPECT_FALSE(little.inference.features);
  EXPECT_TRUE(little.choose_reuse);
  EXPECT_EQ(little.snapshots.keep_days, 7) << "as samples";

  CameraConfig camera = everyField(folder);
  std::ofstream(camera.regions) << R"({"regions": [{"name": "gate", "width": 8, "height": 8,
      "polygons": [[[0, 0], [4, 0], [4, 4]]]}, {"name": "tree", "width": 8, "height": 8,
      "polygons": [[[4, 4], [7, 4], [7, 7]]]}]})";
  std::ofstream(camera.hide) << R"({"regions": [{"name": "window", "width": 8, "height": 8,
      "polygons": [[[0, 0], [4, 0], [4, 4]]]}]})";
  camera.states.clear();
  camera.times = camera.time_zone = camera.start = "";
  camera.follow = false;
  const CameraPlan plan = cameraPlan(camera);
  EXPECT_EQ(plan.source.name(), "rtsp://camera/it's \"1\"");
  EXPECT_FALSE(plan.archive);
  EXPECT_EQ(plan.every_s, 2.5);
  EXPECT_EQ(plan.max_fps, 0.4);
  EXPECT_EQ(plan.timeout_s, 20);
  EXPECT_EQ(std::get<NightByHours>(plan.night).from, 21 * 60);
  ASSERT_TRUE(plan.place);
  EXPECT_EQ(std::pair(plan.place->latitude, plan.place->longitude), std::pair(-33.8675, 151.207));
  EXPECT_EQ(plan.alarms.alarms.size(), 5u);
  EXPECT_EQ(plan.alarms.minutes, 0);
  EXPECT_EQ(plan.summary_hour, 7);
  EXPECT_EQ(std::pair(plan.quality.dark, plan.quality.pictures), std::pair(20.0, 3));
  EXPECT_EQ(plan.states.after, 4);
  ASSERT_TRUE(plan.regions && plan.privacy.hidden && plan.privacy.blurred);
  EXPECT_EQ(plan.regions->size(), 2u);
  EXPECT_EQ(plan.privacy.hidden->front().name, "window");
  EXPECT_THAT(*plan.privacy.blurred, ElementsAre("person", "car"));

  const CameraPlan usual = cameraPlan({.source = "0"});
  EXPECT_EQ(std::tuple(usual.every_s, usual.max_fps, usual.timeout_s), std::tuple(1, 1, 10));
  EXPECT_EQ(cameraPlan({.source = "0", .every = 0}).max_fps, 0) << "as fast as it can";
  EXPECT_EQ(std::tuple(usual.alarms.minutes, usual.states.after, usual.quality.pictures), std::tuple(1, 3, 5));
  EXPECT_TRUE(usual.every_frame && usual.samples_only && usual.resume_demo);
  EXPECT_FALSE(usual.place || usual.summary_hour || usual.regions || usual.once);

  fs::create_directory(folder_ / "pictures");
  const CameraPlan archive = cameraPlan({.source = folder_ / "pictures", .time_zone = "+05:30", .follow = true});
  ASSERT_TRUE(archive.archive);
  EXPECT_TRUE(archive.archive->follow);
  EXPECT_EQ(archive.archiveClock()->zone(), "+05:30");
  EXPECT_EQ(std::pair(archive.every_s, archive.max_fps), std::pair(0.0, 0.0));
  EXPECT_EQ(cameraPlan({.source = folder_ / "pictures", .every = 600}).archive->every_s, 600);
}

TEST(Watch, ASceneIsAtItsPlace) {
  const auto night = [](CameraConfig config) {
    config.source = "demo:street?size=64x96";
    return cameraPlan(config).night;
  };
  EXPECT_EQ(std::get<NightBySun>(night({})), std::get<NightBySun>(night({.night = "sun"})));
  EXPECT_NE(std::get<NightBySun>(night({})).latitude, 0);
  EXPECT_EQ(std::get<NightBySun>(night({.night_elevation = -2})).night_below, -2);
  EXPECT_EQ(std::get<NightBySun>(night({.lat = 1, .lon = 2})), (NightBySun{1, 2}));
  for (const CameraConfig& other :
       {CameraConfig{.night = "brightness"}, {.night_brightness = 60}, {.night_hours = "21:00-06:30"}})
    EXPECT_FALSE(std::holds_alternative<NightBySun>(night(other)));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(night({.night = "none"})));
}

// Of a model that was converted to int8 since, a precision that is asked for would be refused.
TEST_F(WatchFile, Fp32IsNoPrecisionThatSomebodyAskedFor) {
  record(folder_ / "a.db", {sampleAt(kNoon)}, session("rtsp://yard/1"));
  const CameraConfig next = continued({.source = "rtsp://yard/1"}, StoreReader(folder_ / "a.db"));
  EXPECT_EQ(std::pair(next.model, next.precision), std::pair(std::string("vit.onnx"), std::string()));
}

TEST_F(WatchFile, WithOtherPartsToHideItIsAnotherWatch) {
  const auto hiding = [&](int width, const char* name) {
    cv::Mat mask = cv::Mat::zeros(8, 8, CV_8U);
    mask.colRange(0, width).setTo(255);
    cv::imwrite(folder_ / "mask.png", mask);
    std::ofstream(file_) << R"({"regions": [{"name": ")" << name << R"(", "mask": "mask.png"}]})";
    return cameraOf({.source = "demo:street?size=8x8", .hide = file_}, nullptr).files;
  };
  EXPECT_EQ(hiding(3, "a"), hiding(3, "a"));
  EXPECT_NE(hiding(3, "a"), hiding(3, "b"));
  EXPECT_NE(hiding(3, "a"), hiding(4, "a")) << "the file of regions is the same";
}

TEST_F(WatchFile, WithOtherTimesInItsListItIsAnotherCamera) {
  CameraConfig config;
  config.times = "list:" + (folder_ / "times.csv");
  std::set<std::string> read;
  for (const char* time : {"2026-06-01T12:00", "2026-06-01T13:00"}) {
    std::ofstream(folder_ / "times.csv") << "a.png," << time << "\n";
    read.insert(readIn(config, {}));
  }
  EXPECT_EQ(read.size(), 2U);
}

// What the app runs with is what its file says.
TEST(Watch, InferenceComesBack) {
  EstimatorOptions options;
  options.reduce = parseReduction("gradual:count=48");
  options.input_size = Size2{64, 96};
  options.precision = Precision::kBf16;
  options.device = "auto";
  options.refine = Refine::kGuided;
  options.threads = 3;
  options.min_score = 0.25;
  CameraConfig config;
  setInference(config, options);
  const EstimatorOptions back = inferenceOptions(config);
  EXPECT_EQ(back.reduce, options.reduce);
  EXPECT_EQ(back.input_size, options.input_size);
  EXPECT_EQ(back.precision, options.precision);
  EXPECT_EQ(back.device, "auto");
  EXPECT_EQ(back.refine, options.refine);
  EXPECT_EQ(back.threads, 3);
  EXPECT_EQ(back.min_score, 0.25);
  setInference(config, {});
  EXPECT_EQ(config, CameraConfig()) << "what is as usual is not written";
}

// Of a model of this task, as far as `by` can tell.
std::string settings(const EstimatorOptions& options, std::optional<Task> task = Task::kSemantic,
                     HeadKind head = HeadKind::kMaskTransformer, Refine refine = Refine::kNone) {
  ModelInfo info = readModelInfo(kModel, options.convert());
  info.task = task;
  info.head = head;
  info.facts.refine = refine;
  return settingsOf(kModel, info, options);
}

TEST(ModelSettings, SayWhatTheModelDoesNotDoWithoutThem) {
  EXPECT_EQ(settings({}), "");
  EXPECT_EQ(settings({.input_size = Size2{32, 64}, .refine = Refine::kNone}), "");
  EXPECT_EQ(settings({.input_size = Size2{64, 32}}), "input-size=64x32") << "has as many tokens";
  EXPECT_EQ(settings({.refine = Refine::kGuided}), "refine=guided");
  const auto guided = [](const EstimatorOptions& options) {
    return settings(options, Task::kSemantic, HeadKind::kLinear, Refine::kGuided);
  };
  EXPECT_EQ(guided({}), "") << "by its JSON file";
  EXPECT_EQ(guided({.refine = Refine::kGuided}), "");
  EXPECT_EQ(guided({.refine = Refine::kNone}), "refine=none");
}

TEST(ModelSettings, AreThoseOfItsTask) {
  const EstimatorOptions all = {
      .input_size = Size2{64, 32}, .min_score = 0.25, .min_overlap = 0.5, .refine = Refine::kGuided};
  EXPECT_EQ(settings(all), "input-size=64x32:refine=guided");
  const auto of = [](Task task, HeadKind head) {
    return [=](const EstimatorOptions& options) { return settings(options, task, head); };
  };
  const auto panoptic = of(Task::kPanoptic, HeadKind::kMaskQueries);
  EXPECT_EQ(panoptic(all), "input-size=64x32:min-score=0.25:min-overlap=0.5");
  EXPECT_EQ(panoptic({.min_score = 0.8, .min_overlap = 0.8}), "");
  EXPECT_EQ(panoptic({.min_score = 0.5}), "min-score=0.5");
  const auto instances = of(Task::kInstance, HeadKind::kMaskQueries), boxes = of(Task::kBoxes, HeadKind::kBoxQueries);
  EXPECT_EQ(instances(all), "input-size=64x32:min-score=0.25");
  EXPECT_EQ(boxes(all), "input-size=64x32:min-score=0.25");
  EXPECT_EQ(boxes({.min_score = 0.8}), "min-score=0.8");
  EXPECT_EQ(boxes({.min_score = 0.5}), "");
  EXPECT_EQ(of(Task::kDepth, HeadKind::kOther)(all), "input-size=64x32");
}

}  // namespace
}  // namespace mpm::monitor::test
