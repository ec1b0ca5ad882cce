// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>

#include "base/atomic_file.h"
#include "cli/command.h"
#include "cli/models.h"
#include "monitor/every_field.h"
#include "monitor/samples.h"
#include "monitor/sql.h"
#include "mpm/convert.hpp"
#include "mpm/version.hpp"
#include "support/demo.h"
#include "support/local_zone.h"
#include "support/notify_socket.h"
#include "vision/pictures/pictures.h"

namespace mpm::test {
namespace {

using monitor::StoreReader;

class MonitorCommand : public InFolder {
 protected:
  const mpm::test::LocalZone zone_{"UTC"};
  std::string database_ = folder_ / "a.db";

  std::string images(int count) {
    fs::create_directory(folder_ / "in");
    for (int i = 0; i < count; ++i)
      writeImage(folder_ / ("in/20260301_1200" + std::to_string(10 + i) + ".png"), 40, 60, i);
    return folder_ / "in";
  }

  CommandResult monitor(const std::string& source, const Words& more = {}, CommandOptions options = {}) {
    return mpmCommand(
        Words{"monitor", source, "--model", kSegmenter, "--reduce", "mpm:blocks=1,2", "--db", database_} + more,
        options);
  }
};

TEST_F(MonitorCommand, StoresOneSampleFromATimer) {
  const Words more = {"--once", "--alarm", "tokens>1", "--alarm-minutes", "0", "--json"};
  for (int run = 1; run <= 3; ++run) {
    const CommandResult result = succeeded(monitor("demo:street?size=64x96&step=600", more));
    int samples = 0, alarms = 0;
    for (const auto& line : result.jsonLines()) {
      samples += !line.contains("event");
      alarms += line.value("event", "") == "alarm";
    }
    EXPECT_EQ(samples, 1);
    EXPECT_EQ(alarms, run == 1) << "it rings on";
    EXPECT_EQ(StoreReader(database_).count(1), run);
  }
  expectFailure(monitor(images(2), {"--once"}), 2, {"--once is for a camera"});
  const CommandResult none = monitor("/dev/video99", {"--once"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("mpm monitor: error: cannot open camera /dev/video99"));
}

TEST_F(MonitorCommand, HidesInPicturesAndMeasuresWhatIsThere) {
  std::ofstream(folder_ / "hide.json")
      << R"({"regions": [{"name": "window", "width": 60, "height": 40, "polygons": [[[0, 0], [19, 0], [19, 9], [0, 9]]]}]})";
  const auto samples = [&](const std::string& database, const Words& more) {
    database_ = folder_ / database;
    std::vector<nlohmann::json> lines;
    for (auto& line : succeeded(monitor(images(2), more + Words{"--every", "0", "--json"})).jsonLines())
      if (!line.contains("event")) (void)line.erase("inference_ms"), lines.push_back(line);
    return lines;
  };
  const std::string shots = folder_ / "shots";
  const auto plain = samples("plain.db", {});
  EXPECT_EQ(samples("hidden.db", {"--hide", folder_ / "hide.json", "--snapshots", shots, "--snapshot-every", "0"}),
            plain);
  int pictures = 0;
  for (const auto& file : fs::directory_iterator(shots)) {
    if (file.path().extension() != ".png") continue;
    ++pictures;
    const cv::Mat picture = cv::imread(file.path());
    const bool overlay = file.path().string().ends_with("_overlay.png");
    const cv::Scalar mean = cv::mean(picture(cv::Rect(0, 0, 20, 10))),
                     rest = cv::mean(picture(cv::Rect(20, 0, 40, 40)));
    EXPECT_LT(mean[0] + mean[1] + mean[2], overlay ? 3 * 128 : 1) << file.path();
    EXPECT_GT(rest[0] + rest[1] + rest[2], 3 * 20);
  }
  EXPECT_EQ(pictures, 4);
  expectFailure(monitor(folder_ / "in", {"--blur", "no such class"}), 2, {"--blur", "no class 'no such class'"});
  const std::string name = plain[0]["area_fraction"].begin().key();
  EXPECT_EQ(samples("blurred.db", {"--blur", name, "--snapshots", folder_ / "blurred"}), plain);

  cv::imwrite(folder_ / "mask.png", cv::Mat(8, 8, CV_8U, cv::Scalar(255)));
  std::ofstream(folder_ / "mask.json")
      << R"({"regions": [{"name": "small", "width": 8, "height": 8, "mask": "mask.png"}]})";
  EXPECT_EQ(samples("masked.db", {"--hide", folder_ / "mask.json"}), plain);
  std::vector<std::string> messages;
  for (const auto& event : monitor::StoreReader(database_).events(1, 0, INT64_MAX)) messages.push_back(event.message);
  EXPECT_THAT(messages, Contains(HasSubstr("whole pictures are blurred: the mask of region 'small'")));
}

// A report that ends with the last sample would find no fault with a camera that died.
TEST_F(MonitorCommand, TheReportHasTheGapOfACameraThatGivesNothingAnyMore) {
  const UnixMs begin = unixNow() - 2 * kHourMs, last = begin + 19 * kMinuteMs;
  std::vector<monitor::Sample> samples;
  for (UnixMs time = begin; time <= last; time += kMinuteMs) samples.push_back(monitor::test::sampleAt(time));
  monitor::test::record(database_, samples, monitor::test::session("camera 0", 60));
  const auto brief = [&] { return succeeded(mpmCommand({"report", database_, "--brief"})).out; };
  EXPECT_THAT(brief(), HasSubstr("20 samples, 0 gaps")) << "its watch has ended";
  monitor::test::runSql(database_, "UPDATE session SET ended_ms = NULL");
  EXPECT_THAT(brief(), HasSubstr("20 samples, 1 gap,"));
  EXPECT_THAT(succeeded(mpmCommand({"report", database_})).out,
              ::testing::ContainsRegex("\n  outages: no samples 1 time, 1[.]6[0-9] h\n"));
  const auto found = succeeded(mpmCommand({"report", database_, "--json"})).json()["outages"];
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0]["begin"], isoTime(last, true));
  succeeded(mpmCommand({"report", database_, "--export", folder_ / "o.csv", "--format", "outages"}));
  EXPECT_THAT(readFile(folder_ / "o.csv"), HasSubstr(isoTime(last, true)));
}

// A camera whose model was changed two days ago. Its older series ends there.
TEST_F(MonitorCommand, TheReportOfAnOlderSeriesEndsWithIt) {
  const UnixMs changed = unixNow() - 2 * kDayMs, end = changed + kDayMs;
  const auto hourly = [](UnixMs from, UnixMs to) {
    std::vector<monitor::Sample> samples;
    for (UnixMs time = from; time <= to; time += kHourMs) samples.push_back(monitor::test::sampleAt(time));
    return samples;
  };
  monitor::SessionInfo second = monitor::test::session("camera 0", 3600);
  monitor::test::record(database_, hourly(changed - 3 * kDayMs, changed), second);
  second.model_digest = "00000000000000b2";
  monitor::test::record(database_, hourly(changed + kHourMs, end), second);
  {
    monitor::StoreWriter writer(database_);
    writer.beginSession(second);
    writer.append(monitor::Event{.time = changed - kHourMs,
                                 .kind = monitor::EventKind::kAlarm,
                                 .severity = monitor::Severity::kWarning,
                                 .message = "of the first"});
    writer.append(monitor::Event{.time = end + kHourMs,
                                 .kind = monitor::EventKind::kAlarm,
                                 .severity = monitor::Severity::kWarning,
                                 .message = "no frame comes"});
  }
  const auto brief = [&](Words more) {
    Words words{"report", database_, "--brief", "--time-zone=+00:00"};
    words.insert(words.end(), more.begin(), more.end());
    return succeeded(mpmCommand(words)).out;
  };
  const vision::CameraClock utc("+00:00");
  EXPECT_THAT(brief({}), StartsWith("camera 0: last sample " + utc.localTime(end) + " (24 hours ago), 24 samples"));
  EXPECT_THAT(brief({}), HasSubstr(", 2 alarms (" + utc.localTime(end + kHourMs) + " no frame comes)"))
      << "it began when the camera gave nothing any more";
  EXPECT_THAT(brief({"--series", "1"}),
              StartsWith("camera 0: last sample " + utc.localTime(changed) + " (2 days ago), 73 samples"));
  EXPECT_THAT(brief({"--series", "1"}), HasSubstr(", 1 alarm (" + utc.localTime(changed - kHourMs) + " of the first)"));
}

TEST_F(MonitorCommand, TheReportOfASceneSaysNotHowLongAgoItsSamplesWere) {
  monitor::test::record(database_, {monitor::test::sampleAt(unixNow() - kDayMs)},
                        monitor::test::session("demo:street"));
  EXPECT_THAT(succeeded(mpmCommand({"report", database_, "--brief"})).out, Not(HasSubstr(" ago)")));
}

TEST_F(MonitorCommand, TheReportOfASourceThatGaveNoSampleYetHasNoDates) {
  {
    monitor::StoreWriter writer(database_);
    writer.setRegions("camera 0", {{.name = "tree", .size = {64, 48}, .polygons = {{{5, 5}, {14, 5}, {5, 20}}}}});
  }
  EXPECT_EQ(succeeded(mpmCommand({"report", database_})).out, "camera 0\n  no samples yet\n");
  EXPECT_THAT(succeeded(mpmCommand({"report", database_, "--brief"})).out,
              StartsWith("camera 0: no samples yet, 0 gaps,"));
  const auto json = succeeded(mpmCommand({"report", database_, "--json"})).json();
  EXPECT_EQ(json["samples"], 0);
  for (const char* key : {"from", "to", "from_local", "to_local", "methods"}) EXPECT_TRUE(json[key].is_null()) << key;
}

// Not that of the file in which they are taken together, which is gone afterwards.
TEST_F(MonitorCommand, TheReportOfSeveralDatabasesHasTheSizeOfAll) {
  Words words{"report", "--brief"};
  std::uintmax_t size = 0;
  for (const std::string name : {"camera 0", "camera 1", "camera 2"}) {
    words.push_back(folder_ / (name + ".db"));
    monitor::test::record(words.back(), {monitor::test::sampleAt(unixNow())}, monitor::test::session(name));
    size += fs::file_size(words.back());
  }
  EXPECT_THAT(succeeded(mpmCommand(words)).out, EndsWith(", " + fixed(static_cast<double>(size) / 1e6, 1) + " MB\n"));
}

TEST_F(MonitorCommand, RunsACommandForEachEvent) {
  const std::string script = folder_ / "tell.sh", log = folder_ / "log";
  std::ofstream(script) << "echo \"$MPM_EVENT_SOURCE $MPM_EVENT_KIND: $MPM_EVENT_MESSAGE\" >> '" << log
                        << "'\necho said\n";
  const CommandResult result =
      succeeded(monitor(images(3), {"--every", "0", "--json", "--times", "none", "--alarm", "tokens>1",
                                    "--alarm-minutes", "0", "--on-event", "sh '" + script + "'"}));
  EXPECT_THAT(result.err, HasSubstr("said\n")) << "stdout is for data";
  EXPECT_THAT(readFile(log), HasSubstr(folder_ / "in alarm: tokens "));
  fs::remove(log);
  succeeded(monitor(folder_ / "in", {"--recompute", "all", "--on-event", "sh '" + script + "'"}));
  EXPECT_FALSE(fs::exists(log)) << "nothing happens";
  expectFailure(monitor(folder_ / "in", {"--on-event", "mail 'x"}), 2, {"--on-event: ", "' that is not closed"});
  expectFailure(monitor(folder_ / "in", {"--on-event", "no-such-program-of-mpm"}), 2,
                {"--on-event: there is no program 'no-such-program-of-mpm'"});
}

TEST_F(MonitorCommand, LeavesOutAPictureThatCannotBeReadAndGoesOn) {
  const std::string source = images(3);
  std::ofstream(folder_ / "in/20260301_120011.png") << "no picture";
  const CommandResult result = monitor(source, {"--every", "0"});
  EXPECT_EQ(result.exit_code, 1);
  for (const char* part :
       {"left out: cannot read image '", "2 new samples, 2 in", "error: 1 of 3 pictures could not be"})
    EXPECT_THAT(result.err, HasSubstr(part));
  const auto events = StoreReader(database_).events(1, INT64_MIN, INT64_MAX);
  EXPECT_EQ(events.back().message, "Ended: 1 of 3 pictures could not be read");
}

TEST_F(MonitorCommand, CountsTheFrameInHandWhenItIsEnded) {
  fs::create_directory(folder_ / "large");  // so that a frame is in hand for long
  writeImage(folder_ / "large/a.jpg", 2000, 3000);
  for (int i = 0; i < 40; ++i)
    fs::copy_file(folder_ / "large/a.jpg", folder_ / ("large/" + std::to_string(i) + ".jpg"));
  std::int64_t before = 0;
  for (int signal : {SIGINT, SIGTERM}) {
    const CommandResult result = succeeded(
        monitor(folder_ / "large", {"--times", "modified"},
                {.signal_after_first_line = signal, .signal_at_stderr = "] picture ", .stderr_is_terminal = true}));
    const std::int64_t all = StoreReader(database_).count(1);
    EXPECT_LT(all - before, 41) << "it ended of itself";
    EXPECT_THAT(result.err,
                HasSubstr(std::to_string(all - before) + (all - before == 1 ? " new sample, " : " new samples, ") +
                          std::to_string(all) + " in " + database_));
    before = all;
    EXPECT_TRUE(StoreReader(database_).sessions(1).back().ended);
  }
  const CommandResult json =
      succeeded(monitor(images(50), {"--every", "0.2", "--json"}, {.signal_after_first_line = SIGTERM}));
  json.jsonLines();  // throws on half a line
}

TEST_F(MonitorCommand, ATerminalShowsHowItStands) {
  MPM_NEEDS_DEMO();
  const CommandResult result = succeeded(
      monitor("demo:street?size=64x64", {"--every", "0.1", "--night-hours", "00:00-24:00"},
              {.signal_after_first_line = SIGTERM, .signal_at_stderr = " fps in ", .stderr_is_terminal = true}));
  EXPECT_THAT(result.err, ::testing::ContainsRegex("\r\033\\[KLive  [0-9.]+ fps in  [0-9.]+ ms  tokens [0-9]+ -> .*"
                                                   "%\\)  night  [0-9]+ samples\r"));
}

TEST_F(MonitorCommand, KeepsCredentialsToItself) {
  const std::string source = "rtsp://admin:hunter2@127.0.0.1:9/stream";
  const CommandOptions at_first_event{.environment = {{"MPM_SOURCE", source}}, .signal_after_first_line = SIGTERM};
  const CommandResult result = succeeded(mpmCommand(
      {"monitor", "--model", kSegmenter, "--reduce", "mpm:blocks=1", "--db", database_, "--json"}, at_first_event));
  ASSERT_FALSE(result.jsonLines().empty());
  EXPECT_THAT(result.jsonLines()[0]["message"].get<std::string>(), HasSubstr("Retrying (1, next in 1 s)"));
  const std::string bytes = readFile(database_);
  EXPECT_THAT(bytes, HasSubstr("127.0.0.1"));
  for (const std::string& text : {result.out, result.err, bytes}) EXPECT_THAT(text, Not(HasSubstr("hunter2")));
}

TEST_F(MonitorCommand, TellsSystemdWhatItDoes) {
  const std::string path = folder_ / "notify";
  const NotifySocket listener(path);
  succeeded(
      monitor(images(3), {"--every", "0"}, {.environment = {{"NOTIFY_SOCKET", path}, {"WATCHDOG_USEC", "1000000"}}}));
  Words said;
  for (std::string line; !(line = listener.next()).empty();) said.push_back(line);
  ASSERT_GE(said.size(), 4u);
  EXPECT_EQ(std::ranges::count(said, "READY=1"), 1);
  EXPECT_EQ(said.back(), "STOPPING=1");
  EXPECT_THAT(said, AllOf(Contains("WATCHDOG=1"), Contains(StartsWith("STATUS="))));
  const monitor::StoreWriter other(database_);
  expectFailure(monitor(images(3), {}, {.environment = {{"NOTIFY_SOCKET", path}}}), 1, {"another program stores in"});
  for (std::string line; !(line = listener.next()).empty();) EXPECT_NE(line, "READY=1") << "a watch that cannot begin";
}

TEST_F(MonitorCommand, WhatCannotWorkIsSaidAtOnce) {
  std::ofstream(folder_ / "garbage.onnx") << "garbage";
  expectFailure(mpmCommand({"monitor", "0", "--model", folder_ / "garbage.onnx", "--db", database_}), 1,
                {"garbage.onnx"});
  expectFailure(monitor(folder_ / "no-such-folder"), 1, {"no-such-folder"});
  database_ = folder_ / "garbage.onnx";
  expectFailure(monitor("0"), 1, {"garbage.onnx"});
  database_ = folder_ / "a.db";
  expectFailure(mpmCommand({"monitor", "0", "--model", kSegmenter}), 2, {"--db"});
  expectFailure(mpmCommand({"monitor", "--model", kSegmenter, "--db", database_}), 2, {"no source"});
  const std::tuple<const char*, Words, const char*> wrong[] = {
      {"rstp://user:hunter2@camera/1", {}, "'rstp://'"},
      {"0", {"--lat", "48", "--lon", "11", "--night-hours", "21:00-06:00"}, "--night: several rules are given"},
      {"0", {"--every", "nan"}, "--every"},
      {"0", {"--quality", "bright=3"}, "'bright' is none of dark=25"}};
  for (const auto& [source, options, why] : wrong) expectFailure(monitor(source, options), 2, {why});
}

// Damage that no start notices: the service fails, and its next start stores in a new file.
TEST_F(MonitorCommand, DamageOfADatabaseEndsIt) {
  ASSERT_EQ(monitor(images(3), {"--every", "0"}).exit_code, 0);
  for (const char* table : {"sample", "sample_by_time"}) {
    const std::string page = monitor::test::runSql(
        database_, std::string("SELECT rootpage FROM sqlite_master WHERE name = '") + table + "'");
    std::fstream(database_, std::ios::in | std::ios::out | std::ios::binary).seekp(4096 * (std::stoi(page) - 1))
        << std::string(4096, '\xff');
  }
  const CommandResult result = monitor(folder_ / "in", {"--every", "0"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("storage: nothing is stored any more: '" + database_ + "' is damaged"));
  EXPECT_THAT(result.err, HasSubstr("error: '" + database_ + "' is damaged"));
  const CommandResult next = succeeded(monitor(folder_ / "in", {"--every", "0"}));
  EXPECT_THAT(next.err, HasSubstr("3 new samples, 3 in " + database_));
}

// A terminal after Ctrl-S, a pipe whose reader sleeps.
TEST_F(MonitorCommand, AnOutputThatIsStuckStopsNoStoring) {
  MPM_NEEDS_DEMO();
  const auto storesMany = [&] { return monitor::test::samplesStored(database_) >= 40; };
  const CommandResult result =
      monitor("demo:street?size=64x64", {"--every", "0.01", "--json"},
              {.signal_after_first_line = SIGKILL, .output_is_stuck = true, .signal_when = storesMany});
  EXPECT_TRUE(storesMany());
}

TEST_F(MonitorCommand, AFullDiskForItsOutputEndsNoStoring) {
  MPM_NEEDS_DEMO();
  const auto events = [&] {
    try {
      const StoreReader store(database_);
      std::vector<monitor::Event> all = store.events(1, INT64_MIN, INT64_MAX);
      std::erase_if(all, [](const auto& event) { return event.message.find("standard output") == std::string::npos; });
      return all.size();
    } catch (const Error&) {  // not yet
      return std::size_t{0};
    }
  };
  std::int64_t before = -1;  // samples when the event was stored
  const auto goesOn = [&] {
    if (before < 0 && events() > 0) before = monitor::test::samplesStored(database_);
    return before >= 0 && monitor::test::samplesStored(database_) > before;
  };
  const CommandResult result =
      monitor("demo:street?size=64x64", {"--every", "0.01", "--json"},
              {.signal_after_first_line = SIGTERM, .signal_when = goesOn, .stdout_is_full = true});
  EXPECT_EQ(result.exit_code, 1) << "lines are missing";
  EXPECT_THAT(result.err, HasSubstr("cannot write to standard output"));
  EXPECT_EQ(events(), 1u);
}

TEST_F(MonitorCommand, AReportSaysHowManyAreNeitherDayNorNight) {
  using monitor::test::kNoon, monitor::test::sampleAt;
  monitor::SessionInfo info = monitor::test::session();
  info.night_rule = "the sun is below -6 degrees at 48 north, 11 east";
  monitor::test::record(database_, {sampleAt(kNoon, 377, std::nullopt), sampleAt(kNoon + kHourMs)}, info);
  EXPECT_THAT(succeeded(mpmCommand({"report", database_, "--time-zone", "UTC"})).out,
              HasSubstr("11 east; 1 of the samples was not judged."));
}

TEST_F(MonitorCommand, AReportSaysWhatMeasuredAndHow) {
  using monitor::test::kNoon;
  monitor::SessionInfo first = monitor::test::session(), other = first;
  first.night_rule = "the sun is below -6 degrees at 48 north, 11 east";
  other.model_digest = "00000000000000b2";
  other.settings = "refine=guided";
  const auto add = [&](const monitor::SessionInfo& info, std::initializer_list<int> hours) {
    std::vector<monitor::Sample> samples;
    for (const int hour : hours) samples.push_back(monitor::test::sampleAt(kNoon + hour * kHourMs, 377, hour == 1));
    monitor::test::record(database_, samples, info);
  };
  add(first, {0, 1, 2});
  add(other, {3, 4});
  add(first, {5});
  const auto json = succeeded(mpmCommand({"report", database_, "--time-zone", "+02:00", "--json"})).json();
  std::vector<std::string> digests;
  for (const auto& one : json["stretches"]) digests.push_back(one["model_digest"]);
  EXPECT_THAT(digests, ElementsAre("00000000000000a1", "00000000000000b2", "00000000000000a1"));
  EXPECT_EQ(json["all_series"][0]["settings"], "refine=guided");
  EXPECT_EQ(json["all_series"][0]["precision"], "fp32");
  EXPECT_EQ(json["stretches"][1]["precision"], "fp32");
  EXPECT_THAT(json["methods"].get<std::string>(),
              EndsWith("(digest 00000000000000a1), reduction mpm:blocks=2,5, precision fp32, 660 tokens before "
                       "merging; n = 4 samples, from 2026-06-01 to 2026-06-01 by the clock of UTC+02:00; night "
                       "where the sun is below -6 degrees at 48 north, 11 east."));
  EXPECT_EQ(json["night_where"], "the sun is below -6 degrees at 48 north, 11 east");
  add(other, {30});
  add(first, {-1});  // of the latest series, which has no sample as late
  EXPECT_THAT(succeeded(mpmCommand({"report", database_, "--time-zone", "UTC"})).out,
              HasSubstr("n = 5 samples, from 2026-06-01 to 2026-06-01 by the clock"));
  EXPECT_THAT(succeeded(mpmCommand({"report", database_, "--days", "0.02"})).out,
              AllOf(HasSubstr("\n  no samples of this series in this time\n"), HasSubstr("n = 0 samples, "),
                    Not(HasSubstr("not known")), Not(HasSubstr("told apart"))));
}

// What the worlds (tests/worlds) need not find in the text: it may leave it out.
TEST_F(MonitorCommand, AReportAsTextLeavesNothingOut) {
  using namespace monitor::test;
  monitor::SessionInfo before = session("yard", 43200), now = before;
  before.model_digest = "00000000000000b2";
  record(database_, {sampleAt(kNoon - kDayMs, 500)}, before);
  std::vector<monitor::Sample> samples;
  for (int half_days = 0; half_days < 5; ++half_days) {
    const monitor::PictureQuality quality{.flags = half_days == 4 ? monitor::kBlurred : 0};
    const bool night = half_days % 2 == 1;
    monitor::Sample sample =
        sampleAt(kNoon + half_days * kDayMs / 2, (night ? 400 : 300) + half_days, night, {.quality = quality});
    sample.regions.push_back(regionOf(0, {50, 60, 50}, 4, {{3, 0.75}, {0, 0.25}}, "lawn"));
    sample.states = {{.name = "gate", .state = "open", .sure = true, .counted = half_days < 3 ? "open" : "shut"}};
    samples.push_back(sample);
  }
  record(database_, samples, now, {regionNamed("lawn")});
  EXPECT_THAT(succeeded(mpmCommand({"report", database_, "--time-zone", "+02:00"})).out,
              AllOf(HasSubstr("series 2 of 2: "),
                    HasSubstr("2026-05-31T14:00:00+02:00          1         1  tiny 00000000000000b2"),
                    HasSubstr("largest classes of lawn, %: tree 75.0, road 25.0\n"),
                    HasSubstr("\n  gate                      5        1    100.0   open 60.0, shut 40.0\n"),
                    HasSubstr("\n  night - day +101.00 +- 6.08 (95 %, 2 + 2 hours)\n"),
                    HasSubstr("\n  methods: Report of mpm_layer " MPM_VERSION "; model tiny "),
                    HasSubstr("n = 5 samples, 1 of them flagged and left out of the means, from 2026-06-01 "),
                    Not(HasSubstr("reuse:"))));
  EXPECT_THAT(succeeded(mpmCommand({"report", database_, "--brief"})).out, HasSubstr(", gate shut, "));
  EXPECT_THAT(succeeded(mpmCommand({"report", database_, "--series", "1"})).out,
              HasSubstr("\n  all count as day, with a brightness from 100 to 100 of 255; "));
}

// `max-size` takes hours before days, which are all that is left then.
TEST_F(MonitorCommand, AReportOfForgottenDaysCountsWhatTheMeansCount) {
  using namespace monitor::test;
  // Two series of a camera, an hour between samples: two days at noon, then eight.
  for (const auto& [model, first, last] : {std::tuple("a", 0, 2), std::tuple("b", 2, 10)}) {
    monitor::SessionInfo info = session("camera 0", 3600);
    info.model_digest = model;
    std::vector<monitor::Sample> samples;
    for (int hour = 24 * first; hour < 24 * last; ++hour)
      samples.push_back(sampleAt(kNoon + hour * kHourMs, 300 + hour, hour % 2 == 0));
    record(database_, samples, info);
  }
  forget(database_, kNoon + 8 * kDayMs, kDayMs);
  const auto report = [&](const Words& more) {
    return succeeded(mpmCommand(Words{"report", database_, "--json", "--time-zone", "UTC"} + more)).jsonLines().at(0);
  };
  const auto latest = report({}), old = report({"--series", "1"});
  EXPECT_EQ(latest["mean"]["samples"], 8 * 24);
  EXPECT_THAT(latest["methods"], HasSubstr("n = 192 samples, from 2026-06-03 to 2026-06-11 "));
  EXPECT_EQ(latest["comparable"]["samples"], 48);
  EXPECT_EQ(latest["comparable"]["days"], 3) << "those of the samples";
  EXPECT_EQ(latest["samples"], 48);
  // A stretch goes by days where that is all that is known; the third day has both series.
  ASSERT_EQ(latest["stretches"].size(), 2);
  EXPECT_EQ(latest["stretches"][0]["from"], "2026-06-01T00:00:00.000Z");
  EXPECT_EQ(latest["stretches"][0]["to"], "2026-06-04T00:00:00.000Z");
  EXPECT_EQ(latest["stretches"][0]["samples"], 48);
  EXPECT_EQ(latest["stretches"][1]["from"], "2026-06-03T00:00:00.000Z");
  EXPECT_EQ(latest["stretches"][1]["to"], "2026-06-11T11:00:00.000Z");
  EXPECT_EQ(latest["stretches"][1]["samples"], 192);

  EXPECT_EQ(old["mean"]["samples"], 48);
  EXPECT_EQ(old["comparable"]["samples"], 0);
  EXPECT_EQ(old["to"], "2026-06-03T23:59:59.999Z");
  EXPECT_THAT(old["methods"], HasSubstr("n = 48 samples, from 2026-06-01 to 2026-06-03 "));
  const std::string text = succeeded(mpmCommand({"report", database_, "--series", "1"})).out;
  EXPECT_THAT(text, Not(HasSubstr("no samples of this series")));
}

TEST_F(MonitorCommand, ColumnsOfNamesInOtherLettersAreAligned) {
  monitor::SessionInfo info = monitor::test::session();
  info.classes = {"дорога", "car", "sky", "strada"};
  monitor::test::record(database_, {monitor::test::sampleAt(monitor::test::kNoon)}, info);
  const std::string report = succeeded(mpmCommand({"report", database_})).out;
  const auto bytesOf = [&](const std::string& name) {
    return report.find('\n', report.find(name)) - report.find(name);
  };
  EXPECT_EQ(bytesOf("дорога"), bytesOf("strada") + 6) << report;
}

TEST_F(MonitorCommand, ReportWritesPhenoCamFilesOfRegions) {
  std::ofstream(folder_ / "regions.json")
      << R"({"regions": [{"name": "DB_1000", "width": 60, "height": 40, "polygons": [[[5, 5], [50, 5], [50, 30]]]}]})";
  ASSERT_EQ(monitor(images(3), {"--every", "0", "--times", "none", "--regions", folder_ / "regions.json"}).exit_code,
            0);
  const auto report = [&](const Words& more) {
    return mpmCommand(Words{"report", database_, "--export", folder_ / "out"} + more);
  };
  expectFailure(report({"--site", "yard"}), 2, {"--site", "--format phenocam"});
  expectFailure(report({"--format", "phenocam"}), 2, {"--lat and --lon"});
  EXPECT_THAT(succeeded(report({"--format", "phenocam", "--lat", "48", "--lon", "11", "--site", "a/yard"})).err,
              HasSubstr("a_yard_DB_1000_3day.csv"));
  monitor::Sample wrong = monitor::test::sampleAt(991'396'800'000);  // noon of 2001-06-01
  wrong.regions.push_back(monitor::test::regionOf(0, {80, 90, 80}, {}, {}, "DB_1000"));
  monitor::test::record(database_, {wrong}, monitor::test::session(folder_ / "in"),
                        {monitor::test::regionNamed("DB_1000")});
  ASSERT_EQ(report({"--format", "phenocam", "--lat", "48", "--lon", "11", "--series", "2"}).exit_code, 0);
  const std::string days = readFile(folder_ / "out/in_DB_1000_1day.csv");  // the site is the folder of the pictures
  EXPECT_THAT(days, Not(HasSubstr("\n2001-06-01,"))) << "a clock that was wrong makes no file of years";
}

TEST_F(MonitorCommand, ReportSumsUpExportsAndDraws) {
  ASSERT_EQ(monitor(images(4), {"--every", "0", "--night-hours", "00:00-24:00"}).exit_code, 0);
  const CommandResult files =
      succeeded(mpmCommand({"report", database_, "--chart", folder_ / "chart.png", "--export", folder_ / "a.csv"}));
  EXPECT_EQ(files.out, "") << "who asks for a file reads the report elsewhere";
  EXPECT_EQ(files.err, "wrote " + (folder_ / "a.csv") + ": 4 samples\nwrote " + (folder_ / "chart.png") + "\n");
  expectFailure(mpmCommand({"report", database_, "--export", folder_ / "a.p", "--format", "parquet"}), 2, {"--format"});
  expectFailure(mpmCommand({"report", database_, "--chart", folder_ / "fig.svg"}), 2,
                {"fig.svg'; it must end in .png"});
  expectFailure(mpmCommand({"report", database_, "--format", "phenocam"}), 2, {"--format", "--export"});
  expectFailure(mpmCommand({"report", database_, "--format", "jsonl"}), 2, {"--export"});
  expectFailure(mpmCommand({"report", database_, "--export", "-"}), 2, {"--export writes a file"});
  expectFailure(mpmCommand({"report", database_, "--days", "0"}), 2, {"--days"});
  const cv::Mat chart = cv::imread(folder_ / "chart.png");
  EXPECT_EQ(chart.size(), cv::Size(1280, 480));
  const ModelInfo model = readModelInfo(kSegmenter);
  const auto painted = [&](const cv::Mat& of) {
    int pixels = 0;
    for (const cv::Vec3b& color : vision::classColors(model.facts, model.classes)) {
      cv::Mat same;
      cv::inRange(of, color, color, same);
      pixels += cv::countNonZero(same);
    }
    return pixels;
  };
  EXPECT_GT(painted(chart), 200) << "areas in the colours of their classes";
  expectFailure(mpmCommand({"report", folder_ / "none.db"}), 1, {"none.db"});
  expectFailure(mpmCommand({"report", database_, "--source", "x"}), 1, {"'x'"});
  expectFailure(mpmCommand({"report"}), 2, {"DB"});
  monitor::test::runSql(database_, "UPDATE series SET model_digest = 'replaced'");
  succeeded(mpmCommand({"report", database_, "--chart", folder_ / "chart.png"}));
  EXPECT_LT(painted(cv::imread(folder_ / "chart.png")), 200) << "that file is another model now";
}

TEST_F(MonitorCommand, ReportSumsUpReuse) {
  const std::string frames = "demo:street?seed=5&size=64x96&weather=clear&start=2026-03-20T12:00&step=1&frames=8";
  const auto watched = succeeded(monitor(frames, {"--every", "0", "--json", "--reuse", "threshold=12:refresh=3"}));
  double rows = 0, agreement = 0, worst = 100;
  for (const auto& line : watched.jsonLines()) {
    if (line.contains("event")) continue;
    rows += line["rows"].get<double>() / 8;
    if (line["agreement"].is_null()) continue;
    agreement += line["agreement"].get<double>() / 2;
    worst = std::min(worst, line["agreement"].get<double>());
  }
  const CommandResult report = mpmCommand({"report", database_});
  char expected[200];
  std::snprintf(
      expected, sizeof expected,
      "  reuse: %.1f %% of the rows computed on average; 2 key frames compared, with an agreement of %.2f %% on "
      "average and %.2f %% at worst\n",
      rows, agreement, worst);
  EXPECT_THAT(report.out, HasSubstr(expected));
  EXPECT_LT(rows, 100);
  const auto json = mpmCommand({"report", database_, "--json"}).json()["mean"];
  EXPECT_NEAR(json["rows"], rows, 1e-3);
  EXPECT_NEAR(json["agreement"], agreement, 1e-4);
  succeeded(mpmCommand({"report", database_, "--chart", folder_ / "chart.png"}));
  EXPECT_EQ(cv::imread(folder_ / "chart.png").size(), cv::Size(1280, 620)) << "tokens, rows, agreement and areas";
}

std::vector<double> timesOf(const std::string& database) {
  std::vector<double> seconds;
  for (const monitor::Sample& sample : monitor::test::allSamples(StoreReader(database)))
    seconds.push_back(static_cast<double>(sample.time - 1782036000000) / 1000);  // since the scene's own start
  return seconds;
}

TEST_F(MonitorCommand, TheSceneKeepsThePaceAndGoesOnWhereItEnded) {
  MPM_NEEDS_DEMO();
  const auto scene = [&](const std::string& options, const Words& more) {
    fs::remove(database_);
    for (int start = 0; start < 2; ++start) succeeded(monitor("demo:street?size=64x64&frames=3" + options, more));
    return timesOf(database_);
  };
  EXPECT_THAT(scene("", {"--every", "0.125"}), ElementsAre(0, 0.125, 0.25, 0.375, 0.5, 0.625));
  EXPECT_THAT(scene("&speed=240", {"--every", "0.125"}), ElementsAre(0, 30, 60, 90, 120, 150));
  EXPECT_THAT(scene("&step=600", {"--every", "0.125"}), ElementsAre(0, 600, 1200, 1800, 2400, 3000));
  EXPECT_THAT(scene("&speed=240", {"--every", "0"}), ElementsAre(0, 9.6, 19.2, 28.8, 38.4, 48));
  expectFailure(monitor("demo:street?seed=1..2&frames=3"), 1, {"one street"});
  expectFailure(monitor("demo:street?sead=1"), 1, {"no option 'sead'"});
}

TEST_F(MonitorCommand, TheSceneKnowsDayAndNight) {
  MPM_NEEDS_DEMO();
  const std::string source = "demo:street?size=64x64&step=43200&frames=4&longitude=30";
  ASSERT_EQ(monitor(source, {"--every", "0"}).exit_code, 0);
  const CommandResult report = mpmCommand({"report", database_, "--json"});
  EXPECT_EQ(report.json()["day"]["samples"], 2);
  EXPECT_EQ(report.json()["night"]["samples"], 2);
  EXPECT_EQ(StoreReader(database_).sessions(1)[0].longitude, 30);
  ASSERT_EQ(monitor(source, {"--every", "0", "--night-hours", "00:00-24:00"}).exit_code, 0);
  EXPECT_EQ(mpmCommand({"report", database_, "--json"}).json()["night"]["samples"], 6) << "what is given counts";
}

TEST_F(MonitorCommand, AChartOfASecondSaysThatThereIsTooLittle) {
  std::vector<monitor::Sample> samples;
  for (int i = 0; i < 10; ++i) samples.push_back(monitor::test::sampleAt(monitor::test::kNoon + 90 * i, 370 + i));
  monitor::test::record(database_, samples);
  ASSERT_EQ(mpmCommand({"report", database_, "--chart", folder_ / "chart.png"}).exit_code, 0);
  cv::Mat grey;
  cv::cvtColor(cv::imread(folder_ / "chart.png")(cv::Rect(82, 60, 1166, 358)), grey, cv::COLOR_BGR2GRAY);
  const int drawn = cv::countNonZero(grey < 255);
  EXPECT_GT(drawn, 100) << "words";
  EXPECT_LT(drawn, 5000) << "and no block";
}

TEST_F(MonitorCommand, AReportNeverReplacesItsDatabase) {
  ASSERT_EQ(monitor(images(2), {"--every", "0"}).exit_code, 0);
  fs::create_symlink("a.db", folder_ / "link.db");
  fs::create_hard_link(database_, folder_ / "other.db");
  const auto report = [&](const std::string& database, const Words& more) {
    return mpmCommand(Words{"report", database} + more);
  };
  for (const char* output : {"a.db", "./a.db", "link.db", "other.db", "a.db-wal", "a.db-shm", "a.db-lock"})
    expectFailure(report(database_, {"--export", folder_ / output}), 2, {"--export", "would replace '"});
  for (const char* output : {"a.db", "link.db", "a.db-wal"})
    expectFailure(report(folder_ / "link.db", {"--chart", folder_ / output}), 2, {"--chart", "would replace '"});
  expectFailure(report(database_, {"--export", folder_ / "x", "--chart", folder_ / "./x"}), 2, {"the same file"});
  EXPECT_FALSE(fs::exists(folder_ / "x"));
  EXPECT_EQ(StoreReader(database_).count(1), 2);
}

TEST_F(MonitorCommand, AReportKnowsASourceByTheAddressThatWasWatched) {
  const std::string address = "rtsp://admin:hunter2@camera/1";
  for (const std::string& source : {address, std::string("rtsp://camera/2")})
    monitor::test::record(database_, {monitor::test::sampleAt(monitor::test::kNoon)}, monitor::test::session(source));
  const CommandResult report = succeeded(mpmCommand({"report", database_, "--source", address, "--json"}));
  EXPECT_EQ(report.json()["source"], "rtsp://***@camera/1");
  const CommandResult none = mpmCommand({"report", database_, "--source", "rtsp://admin:hunter2@camera/3"});
  expectFailure(none, 1, {"rtsp://***@camera/3"});
  expectFailure(mpmCommand({"report", database_, "--export", folder_ / "a.csv"}), 2, {"2 sources: name one"});
  EXPECT_THAT(none.err, Not(HasSubstr("hunter2")));
}

TEST_F(MonitorCommand, AnAlarmTakesNoSource) {
  succeeded(mpmCommand({"monitor", "--every", "0", "--model", kSegmenter, "--reduce", "mpm:blocks=1,2", "--db",
                        database_, "--alarm", "class_0>99", images(1)}));
  EXPECT_EQ(StoreReader(database_).count(1), 1);
}

TEST_F(MonitorCommand, RemembersRegionsUntilTheyAreTakenBack) {
  const auto treeOf = [&](const char* polygon) {
    std::ofstream(folder_ / "r.json") << R"({"regions": [{"name": "tree", "width": 60, "height": 40, "polygons": [)"
                                      << polygon << "]}]}";
    return Words{"--every", "0", "--regions", folder_ / "r.json"};
  };
  const auto remembers = HasSubstr("measures the regions that were stored: tree\n");
  succeeded(monitor(images(1), treeOf("[[0, 0], [9, 0], [9, 9]]")));
  EXPECT_THAT(succeeded(monitor(images(2), {"--every", "0"})).err, remembers);
  succeeded(monitor(images(2), treeOf("[[0, 0], [9, 0], [9, 9], [0, 9]]") + Words{"--recompute", "all"}));
  succeeded(monitor(images(3), {"--every", "0", "--regions", "none"}));
  EXPECT_THAT(succeeded(monitor(images(4), {"--every", "0"})).err, Not(remembers));
  std::vector<double> pixels;
  for (const monitor::Sample& sample : monitor::test::latestSamples(StoreReader(database_))) {
    for (const monitor::RegionSample& region : sample.regions)
      if (region.region > 0) pixels.push_back(region.value("pixels").value());
  }
  EXPECT_THAT(pixels, ElementsAre(100, 100)) << "all was measured again, of the new file";
}

TEST_F(MonitorCommand, RegionsThatMakeNoSenseAreRefused) {
  const std::string file = folder_ / "r.json", pictures = images(1);
  std::ofstream(file)
      << R"({"regions": [{"name": "tree", "width": 60, "height": 40, "polygons": [[[0, 0], [90, 0], [9, 9]]]}]})";
  expectFailure(monitor(pictures, {"--regions", file}), 1, {"r.json': region 'tree' reaches out of its picture"});
  EXPECT_FALSE(fs::exists(database_));
  EXPECT_THAT(monitor(pictures, {"--alarm", "tree:gcc<0.3"}).err, HasSubstr("there is no region 'tree'"));
  EXPECT_EQ(monitor("demo:", {"--recompute", "all"}).exit_code, 2);
}

// What the app wrote, read here and printed again.
TEST_F(MonitorCommand, AWatchFileComesBackAsItWas) {
  const monitor::CameraConfig all = monitor::test::everyField(folder_.path());
  std::ofstream(folder_ / "yard.toml") << monitor::watchText({all}) << monitor::test::kEveryTable;
  const CommandResult printed = succeeded(mpmCommand({"monitor", "--watch", folder_ / "yard.toml", "--print-watch"}));
  EXPECT_EQ(printed.out, monitor::watchText({all}) + monitor::test::kEveryTable);
  const CommandResult other =
      mpmCommand({"monitor", "0", "--watch", folder_ / "yard.toml", "--alarm", "sky<5", "--print-watch"});
  std::ofstream(folder_ / "other.toml") << other.out;
  monitor::CameraConfig expected = all;
  expected.source = "0";
  expected.alarm = {"sky<5"};
  EXPECT_EQ(monitor::readWatchFile(folder_ / "other.toml").cameras.front().config, expected);
  const std::string keys = mpmCommand({"monitor", "rtsp://me:geheim@camera/1", "--print-watch"}).out;
  EXPECT_THAT(keys, HasSubstr("source = 'rtsp://***@camera/1'"));
  for (const monitor::CameraField& field : monitor::cameraFields())
    EXPECT_THAT(keys, HasSubstr((field.key == "source" ? "" : "# ") + field.key + " = "));
}

// What is printed without its password is not read back as if "***" were the password.
TEST_F(MonitorCommand, APrintedFileIsNotReadWithoutItsPasswords) {
  const std::string file = folder_ / "yard.toml", printed = folder_ / "printed.toml";
  std::ofstream(file) << "[[camera]]\nsource = 'http://camera/1?user=me&pwd=geheim'\ndb = 'a.db'\n"
                         "[webhook]\nurl = 'https://server/hook?token=geheim'\n";
  const std::string text = succeeded(mpmCommand({"monitor", "--watch", file, "--print-watch"})).out;
  EXPECT_THAT(text, AllOf(HasSubstr("pwd=***"), HasSubstr("token=***"), Not(HasSubstr("geheim"))));
  std::ofstream(printed) << text;
  expectFailure(mpmCommand({"monitor", "--watch", printed}), 2,
                {"printed.toml', line ", "url: its password was not written down"});
  std::ofstream(printed) << text.substr(0, text.find("[webhook]"));
  expectFailure(
      mpmCommand({"monitor", "--watch", printed, "--model", kSegmenter}), 2,
      {"printed.toml', line 2: source: the password of 'http://camera/1?user=***&pwd=***' was not written down"});
}

TEST_F(MonitorCommand, AFileIsCheckedWithoutWatching) {
  images(2);
  const std::string file = folder_ / "yard.toml",
                    camera = "[[camera]]\nname = 'yard'\nsource = 'in'\ndb = 'a.db'\nmodel = '" + kSegmenter + "'\n";
  const auto check = [&](const std::string& text) {
    std::ofstream(file) << text;
    return mpmCommand({"monitor", "--check", file});
  };
  const CommandResult good = succeeded(check(camera + "[page]\naddress = '127.0.0.1:1'\n"));
  EXPECT_THAT(good.out, AllOf(HasSubstr("yard.toml: 1 camera\n"), HasSubstr("yard  "), HasSubstr(kSegmenter)));
  EXPECT_FALSE(fs::exists(database_));
  std::ofstream(folder_ / "open") << "secret\n";
  fs::permissions(folder_ / "open", static_cast<fs::perms>(0644));
  std::ofstream(folder_ / "bad.onnx") << "no model";
  std::ofstream(folder_ / "b.db") << "no database, but long enough to be looked at as one";
  const std::pair<std::string, const char*> cases[] = {
      {camera + "evry = 1\n", "line 6: there is no key 'evry'"},
      {camera + "regions = 'none.json'\n", "none.json"},
      {camera + "states = ['none.json']\n", "none.json"},
      {camera + "alarm = ['unicorn>5']\n", "yard.toml', line 6: alarm: the model has no class 'unicorn'"},
      {camera + "[[camera]]\nname = 'b'\nsource = '0'\ndb = 'a.db'\n", "cameras 'yard' and 'b' would both write"},
      {"[[camera]]\nsource = '0'\ndb = 'c.db'\nmodel = 'bad.onnx'\n", "bad.onnx"},
      {"[[camera]]\nsource = '0'\ndb = 'c.db'\nmodel = 'nope.onnx'\n", "line 4: model: '"},
      {"[[camera]]\nsource = '0'\ndb = 'b.db'\nmodel = '" + kSegmenter + "'\n", "b.db' is not a database"},
      {"[[camera]]\nsource = '0'\ndb = 'none/b.db'\nmodel = '" + kSegmenter + "'\n", "there is no folder"},
      {camera + "[webhook]\nurl-file = 'open'\n", "can be read by every user"},
      {camera + "[page]\naddress = '0.0.0.0:8080'\n", "name a file with a token"}};
  for (const auto& [text, why] : cases) {
    const CommandResult result = check(text);
    EXPECT_NE(result.exit_code, 0) << text;
    EXPECT_THAT(result.err, HasSubstr(why));
    EXPECT_EQ(result.out, "");
  }
  EXPECT_EQ(mpmCommand({"monitor", "--check", file, "--watch", file}).exit_code, 2);
}

TEST_F(MonitorCommand, ASourceOfTheEnvironmentIsOfOneCamera) {
  const std::string file = folder_ / "gates.toml";
  const auto print = [&](const std::string& names, const std::string& variable) {
    std::ofstream(file) << names;
    return mpmCommand({"monitor", "--watch", file, "--print-watch"}, {.environment = {{variable, "rtsp://camera/9"}}});
  };
  const std::string dash = "[[camera]]\nname = 'gate-2'\nsource = '2'\ndb = 'a.db'\n",
                    line = "[[camera]]\nname = 'gate_2'\nsource = '3'\ndb = 'b.db'\n";
  expectFailure(print(dash + line, "MPM_SOURCE_GATE_2"), 2, {"MPM_SOURCE_GATE_2", "'gate-2' and 'gate_2'"});
  EXPECT_THAT(succeeded(print(dash, "MPM_SOURCE_GATE_2")).out, HasSubstr("source = 'rtsp://camera/9'"));
  EXPECT_THAT(succeeded(print(dash + line, "MPM_SOURCE_GATE_3")).out, Not(HasSubstr("camera/9")));
}

TEST_F(MonitorCommand, WatchesWhatAFileSays) {
  images(3);
  const auto watch = [&](const std::string& more, const std::string& model = kSegmenter) {
    std::ofstream(folder_ / "yard.toml") << "[[camera]]\nsource = 'in'\ndb = 'a.db'\nmodel = '" << model << "'\n"
                                         << more;
    return mpmCommand({"monitor", "--watch", folder_ / "yard.toml"});
  };
  succeeded(watch("reduce = 'mpm:blocks=1,2'\nlat = 48.5\nlon = 11.25\n"));
  const monitor::StoreReader stored(database_);
  EXPECT_EQ(stored.count(1), 3);
  EXPECT_EQ(stored.sessions(1).at(0).latitude, 48.5);
  EXPECT_EQ(stored.sessions(1).at(0).reduce, "mpm:blocks=1,2");
  const std::tuple<const char*, int, const char*> wrong[] = {
      {"lat = 48\n", 2, "yard.toml', line 5: lat"},  // which lacks its longitude
      {"\nkeep = 9\n", 2, "yard.toml', line 6: keep: it is for a camera"},
      {"on-event = 'no-such-program-of-mpm'\n", 2, "yard.toml', line 5: on-event: there is no program"},
      {"regions = 'none.json'\n", 1, "yard.toml', line 5: regions: "}};
  for (const auto& [more, code, why] : wrong) expectFailure(watch(more), code, {why});
}

TEST_F(MonitorCommand, ServePrintsItsAddressAndEndsByASignal) {
  monitor::test::record(database_, {monitor::test::sampleAt(monitor::test::kNoon)});
  const CommandResult result =
      mpmCommand({"serve", database_, "--address", "127.0.0.1:0"}, {.signal_after_first_line = SIGTERM});
  if (!MPM_HAS_PAGE) return expectFailure(result, 1, {"install libmicrohttpd-dev"});
  EXPECT_EQ(succeeded(result).lines().size(), 1);
  EXPECT_THAT(result.out, ::testing::MatchesRegex("http://127.0.0.1:[1-9][0-9]*/\n"));
  expectFailure(mpmCommand({"serve", database_, "--address", "0.0.0.0:0"}), 1,
                {"other machines can reach '0.0.0.0:0'"});
}

TEST_F(MonitorCommand, ServeNamesADatabaseThatIsNotThere) {
  expectFailure(mpmCommand({"serve", database_, "--address", "127.0.0.1:0"}), 1, {"a.db"});
  expectFailure(mpmCommand({"serve"}), 2, {"DB"});
}

}  // namespace
}  // namespace mpm::test
