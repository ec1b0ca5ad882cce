// SPDX-License-Identifier: Apache-2.0
// States from the model's tokens to the chart.

#include "base/atomic_file.h"
#include "monitor/recorder.h"
#include "monitor/results.h"
#include "monitor/sql.h"
#include "monitor/statistics/state_detector.h"
#include "monitor/store/export.h"
#include "monitor/store/merge.h"
#include "support/throws_with.h"

namespace mpm::monitor::test {
namespace {

using StoredStates = InFolder;

constexpr const char* kDigest = "00000000000000a1";

// Two channels: the first is the larger one where the state is "open". `level` up to 1: how clearly.
Estimate showing(double level, Size2 grid = {2, 2}) {
  Estimate estimate;
  estimate.grid = grid;
  estimate.features = cv::Mat(grid.height * grid.width, 3, CV_32F, cv::Scalar(0));
  for (int i = 0; i < estimate.features.rows; ++i) {
    estimate.features.at<float>(i, 0) = static_cast<float>(level);
    estimate.features.at<float>(i, 1) = static_cast<float>(-level);
    estimate.features.at<float>(i, 2) = 0.3f;
  }
  return estimate;
}

evaluation::StateHead gate(const std::string& name = "gate") {
  evaluation::StateHead head{.name = name, .states = {"closed", "open"}, .model_name = "tiny", .model_digest = kDigest};
  head.weights = cv::Mat(2, 4, CV_64F, cv::Scalar(0));
  head.weights.at<double>(1, 0) = 4;  // of the mean of the first channel
  head.sure = 0.9;
  return head;
}

// A picture of 64x48 px, of which the model says this.
StateDetector::Seen seen(const Estimate& estimate, UnixMs time, const std::string& digest = kDigest,
                         const ViewMotion& moved = {}) {
  static const cv::Mat picture(48, 64, CV_8UC3, cv::Scalar::all(90));
  return {.image = picture, .estimate = estimate, .digest = digest, .time = time, .moved = moved};
}

struct Read {
  StateDetector watch;
  std::vector<Event> events{};
  UnixMs time = kNoon;

  StateSample operator()(double level) {
    events.clear();
    const Estimate estimate = showing(level);
    const auto samples = watch.read(seen(estimate, time += kSecondMs), events);
    return samples.empty() ? StateSample() : samples.front();
  }
};

TEST(StateDetector, CountsOnFromAnEarlierWatch) {
  Read before{StateDetector({.heads = {gate()}, .after = 3})};
  for (const double level : {1.0, 0.1, 1.0, 1.0, -1.0}) before(level);
  const StateSample last = before(-1);
  EXPECT_EQ(last.counted, "open") << "a result that is not sure neither counts nor begins anew";
  Read read{StateDetector({.heads = {gate()}, .after = 3})};
  read.watch.resume({{.name = "gate", .state = "closed", .sure = true, .counted = "open"}, last, {.name = "door"}});
  const StateSample next = read(-1);
  EXPECT_EQ(next.counted, "closed") << "the third result of three";
  ASSERT_THAT(read.events, SizeIs(1));
  EXPECT_THAT(read.events[0].message, HasSubstr("gate is closed, was open"));
  Read same{StateDetector({.heads = {gate()}, .after = 3})};
  same.watch.resume({{.name = "gate", .state = "open", .sure = true, .counted = "open"}});
  (void)same(1);
  EXPECT_THAT(same.events, IsEmpty()) << "known already";
}

TEST(StateDetector, StatesOfAnotherModelAreNotRead) {
  StateDetector watch({.heads = {gate()}});
  std::vector<Event> events;
  const Estimate estimate = showing(1);
  for (int i = 0; i < 2; ++i) EXPECT_THAT(watch.read(seen(estimate, kNoon, "00000000000000b2"), events), IsEmpty());
  ASSERT_THAT(events, SizeIs(1)) << "once";
  EXPECT_THAT(events[0].message, HasSubstr("'gate' are not read: they were taught with another model, 'tiny'"));
  EXPECT_THAT(watch.read(seen(estimate, kNoon), events), SizeIs(1));
}

TEST(StateDetector, ReadsItsRegionAndFollowsTheView) {
  evaluation::StateHead left = gate();
  left.regions = {{.name = "gate", .size = {64, 48}, .polygons = {{{0, 0}, {15, 0}, {15, 47}, {0, 47}}}}};
  StateDetector watch({.heads = {left}});
  Estimate estimate = showing(-1, {3, 4});  // patches of 16 px
  for (int i = 0; i < 12; i += 4) showing(1, {1, 1}).features.copyTo(estimate.features.row(i));
  std::vector<Event> events;
  EXPECT_EQ(watch.read(seen(estimate, kNoon), events).at(0).state, "open");
  EXPECT_EQ(watch.read(seen(estimate, kNoon, kDigest, {.right = 20}), events).at(0).state, "closed");
  left.regions[0].to = kNoon;
  StateDetector over({.heads = {left}});
  EXPECT_THAT(over.read(seen(estimate, kNoon + 1), events), IsEmpty());
}

// A latch of 4x4 px, at (40, 20) of the picture.
evaluation::StateHead latch(double every_s = 60) {
  evaluation::StateHead head = gate("latch");
  head.regions = {{.name = "latch", .size = {64, 48}, .polygons = {{{40, 20}, {43, 20}, {43, 23}, {40, 23}}}}};
  head.regions[0].cut_out_s = every_s;
  return head;
}

TEST(StateDetector, ARegionOfTheCamerasResolutionHasAPassOfItsOwnAtAPaceOfItsOwn) {
  StateDetector watch({.heads = {latch(), gate()}, .after = 3});
  const Estimate whole = showing(-1);
  std::vector<Event> events;
  std::vector<cv::Mat> looked;
  const cv::Mat picture(48, 64, CV_8UC3, cv::Scalar(1, 2, 3));
  cv::Mat hidden(48, 64, CV_8U, cv::Scalar(0));
  hidden.at<uchar>(21, 41) = 255;
  hidden.at<uchar>(0, 0) = 255;
  for (int second = 0; second < 130; second += 10) {
    const StateDetector::Seen next{.image = picture,
                                   .estimate = whole,
                                   .digest = kDigest,
                                   .time = kNoon + second * kSecondMs,
                                   .look =
                                       [&](const cv::Mat& part) {
                                         looked.push_back(part.clone());
                                         return showing(1);
                                       },
                                   .hidden = [&] { return hidden; }};
    const auto samples = watch.read(next, events);
    ASSERT_EQ(samples.size(), 2u) << second;
    EXPECT_EQ(samples.back().state, "closed") << "of the whole picture";
    EXPECT_EQ(std::pair(samples[0].state, samples[0].counted), std::pair(std::string("open"), std::string("open")))
        << "a minute after the one before one counts at once";
  }
  ASSERT_EQ(looked.size(), 3u);
  const auto ofLatch = [](const Event& event) { return event.message.starts_with("latch"); };
  EXPECT_EQ(std::ranges::count_if(events, ofLatch), 1) << "what is said again is no change";
  const cv::Rect part = evaluation::stateView(latch().regions, {64, 48}, {2, 2}, kNoon).part;
  EXPECT_EQ(looked[0].size(), part.size());
  EXPECT_TRUE(part.contains({40, 20}) && part.contains({43, 23}) && !part.contains({0, 0}));
  for (int y = 0; y < part.height; ++y) {
    for (int x = 0; x < part.width; ++x) {
      ASSERT_EQ(looked[0].at<cv::Vec3b>(y, x), part.y + y == 21 && part.x + x == 41 ? cv::Vec3b() : cv::Vec3b(1, 2, 3))
          << "what is hidden is hidden here, too";
    }
  }
  EXPECT_EQ(picture.at<cv::Vec3b>(21, 41), cv::Vec3b(1, 2, 3)) << "and not in the picture that is measured";
  EXPECT_THAT(watch.read(seen(whole, kNoon + kHourMs), events), SizeIs(1))
      << "nobody can look, and what was seen is old";
}

TEST(StateDetector, AnAnswerThatIsSaidAgainIsNoResultAfterARestartEither) {
  const Estimate of_the_whole = showing(-1);
  const auto countedIn = [&](int restarts_at) {
    std::optional<StateDetector> watch(std::in_place, StateOptions{.heads = {latch(30)}, .after = 3});
    std::vector<std::vector<StateSample>> stored;
    std::vector<Event> events;
    for (int second = 0; second < 300; second += 10) {
      if (second == restarts_at) {
        watch.emplace(StateOptions{.heads = {latch(30)}, .after = 3});
        for (const auto& samples : stored) watch->resume(samples);
      }
      StateDetector::Seen next = seen(of_the_whole, kNoon + second * kSecondMs);
      next.look = [&](const cv::Mat&) { return showing(second < 120 ? -1 : 1); };
      stored.push_back(watch->read(next, events));
    }
    std::vector<std::string> counted;
    for (const auto& samples : stored) counted.push_back(samples.at(0).counted);
    return counted;
  };
  const auto whole = countedIn(-1);
  EXPECT_EQ(whole[17], "closed");
  EXPECT_EQ(whole[18], "open") << "the third look at 180 s";
  EXPECT_EQ(countedIn(150), whole);
}

TEST(StateDetector, LooksKeepTheirInterval) {
  StateDetector watch({.heads = {latch(60)}});
  const Estimate whole = showing(-1);
  std::vector<Event> events;
  std::vector<int> looked;
  for (int second = 0; second <= 400; ++second) {
    StateDetector::Seen next = seen(whole, kNoon + second * kSecondMs);
    next.look = [&](const cv::Mat&) {
      looked.push_back(second);
      return showing(1);
    };
    watch.read(next, events);
  }
  EXPECT_THAT(looked, ElementsAre(0, 54, 114, 174, 234, 294, 354));
  StateDetector::Seen back = seen(whole, kNoon - kHourMs);
  back.look = [&](const cv::Mat&) {
    looked.push_back(-1);
    return showing(1);
  };
  watch.read(back, events);
  EXPECT_EQ(looked.back(), -1) << "the clock went back";
}

TEST(StateDetector, APassThatFailsIsOneEvent) {
  StateDetector watch({.heads = {latch(0)}});
  const Estimate whole = showing(-1);
  std::vector<Event> events;
  for (int i = 0; i < 3; ++i) {
    StateDetector::Seen next = seen(whole, kNoon + i);
    next.look = [](const cv::Mat&) -> Estimate { throw Error("no memory"); };
    EXPECT_THAT(watch.read(next, events), IsEmpty());
  }
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_THAT(events[0].message, HasSubstr("'latch' are not read: no memory"));

  StateDetector works({.heads = {latch(60)}});
  StateDetector::Seen next = seen(whole, kNoon);
  next.look = [](const cv::Mat&) { return showing(1); };
  EXPECT_THAT(works.read(next, events), SizeIs(1));
  next.look = [](const cv::Mat&) -> Estimate { throw Error("no memory"); };
  for (const int second : {60, 70}) {
    next.time = kNoon + second * kSecondMs;
    EXPECT_THAT(works.read(next, events), IsEmpty()) << "what was seen before the failure is old";
  }
}

TEST(StateDetector, WrongOptionsAreOneLine) {
  EXPECT_MPM_ERROR(StateDetector({.heads = {gate(), gate()}}), "two files of states are named 'gate'");
  EXPECT_MPM_ERROR(StateDetector({.after = 0}), "at least 1 result");
}

InferenceResult resultAt(double level, UnixMs time) {
  const cv::Mat grey(48, 64, CV_8UC3, cv::Scalar::all(90));
  InferenceResult result = resultOf({{"road"}, {"sky"}}, grey, time, {2, 2});
  result.estimate = showing(level);
  result.estimate.labels = cv::Mat::zeros(grey.size(), CV_8U);
  result.estimate.tokens = {4};
  return result;
}

// Closed for 4 s, then open.
void recordStates(const std::string& path, const std::string& source = "camera 0", UnixMs from = kNoon) {
  StoreWriter writer(path);
  Recorder recorder({.source = source, .every_s = 0, .states = {.heads = {gate()}, .after = 2}}, &writer);
  for (int i = 0; i < 8; ++i) recorder.add(resultAt(i < 4 ? -1 : 1, from + i * kSecondMs), 0);
  ASSERT_TRUE(writer.flush());
}

// What lies between pictures that are minutes apart is not known: each sure one counts, and one that is not changes
// nothing. A camera at one sample a second waits for agreement, but for the first sample and after an outage.
TEST_F(StoredStates, EachSureSampleOfASlowCameraCounts) {
  const auto countedBy = [](double every_s, UnixMs step) {
    Recorder recorder({.every_s = every_s, .states = {.heads = {gate()}}}, nullptr);
    std::vector<std::string> counted;
    for (int i = 0; const double level : {1.0, -1.0, 0.2, 1.0, -1.0})
      counted.push_back(recorder.add(resultAt(level, kNoon + step * i++), 0)->states.at(0).counted);
    return counted;
  };
  const std::vector<std::string> each = {"open", "closed", "closed", "open", "closed"}, first(5, "open");
  EXPECT_EQ(countedBy(1, 10 * kMinuteMs), each) << "runs of --once";
  EXPECT_EQ(countedBy(1, kSecondMs), first) << "only the first has none before";
  EXPECT_EQ(countedBy(60, 58 * kSecondMs), each) << "each a moment early";

  const auto countedByRuns = [](UnixMs step) {
    std::vector<Sample> stored;
    std::vector<std::string> counted;
    for (const double level : {1.0, -1.0, 0.2, 1.0, -1.0}) {
      Recorder run({.every_s = 60, .once = true, .states = {.heads = {gate()}}}, nullptr);
      const UnixMs now = kNoon + step * std::ssize(stored);
      run.resume(stored, {}, now, now);
      stored.push_back(*run.add(resultAt(level, now), 0));
      counted.push_back(stored.back().states.at(0).counted);
    }
    return counted;
  };
  EXPECT_EQ(countedByRuns(kMinuteMs - 2 * kSecondMs), each);
  EXPECT_EQ(countedByRuns(20 * kSecondMs), first) << "these are less than a minute apart";
}

TEST_F(StoredStates, ExportsAndTheViewHaveThem) {
  recordStates(path_);
  const StoreReader reader(path_);
  const auto text = [&](ExportFormat format) {
    exportSamples(reader, {.format = format, .source = 1}, folder_ / "out");
    return readFile(folder_ / "out");
  };
  const std::string csv = text(ExportFormat::kCsv), json = text(ExportFormat::kJsonLines);
  EXPECT_THAT(csv, AllOf(HasSubstr(",state_gate,state_gate_probability,state_gate_sure,state_gate_counted\n"),
                         HasSubstr(",1,closed\n"), HasSubstr(",1,open\n")));
  const auto first = nlohmann::json::parse(json.substr(0, json.find('\n')))["states"]["gate"];
  EXPECT_EQ(first["state"], "closed");
  EXPECT_EQ(first["counted"], "closed");
  EXPECT_EQ(runSql(path_, "SELECT count(*) FROM state_values WHERE name = 'gate' AND counted = 'open'"), "3");
}

TEST_F(StoredStates, AreReadFromAFileThatDoesNotSayWhichWereLooks) {
  recordStates(path_);
  runSql(path_, "ALTER TABLE state_sample DROP COLUMN look");
  const auto samples = allSamples(StoreReader(path_));
  ASSERT_EQ(samples.size(), 8u);
  EXPECT_EQ(samples.back().states.at(0).counted, "open");
  recordStates(path_, "camera 1");
  EXPECT_EQ(runSql(path_, "SELECT count(look) FROM state_sample"), "8");
}

// The strip of a chart goes on where the model was changed, as its curves do; that of one series does not.
TEST_F(StoredStates, OfAChartAreThoseOfTheLatestSeriesOfEachTime) {
  StoreWriter writer(path_);
  const auto minute = [](int minutes) { return kNoon + minutes * kMinuteMs; };
  const auto measure = [&](const std::string& model, const std::string& head, const std::vector<const char*>& states,
                           int from) {
    SessionInfo info = session("camera 0", 60);
    info.model_digest = model;
    writer.beginSession(info);
    for (const char* state : states) {
      Sample sample = sampleAt(minute(from++));
      if (!head.empty())
        sample.states = {{.name = head, .state = state, .probability = 1, .sure = true, .counted = state}};
      writer.append(sample);
    }
  };
  measure("a", "gate", {"open", "open", "shut", "shut"}, 0);
  measure("b", "gate", {"shut", "open", "open", "shut"}, 4);
  measure("c", "lamp", {"on", "off"}, 8);
  measure("d", "", {"", ""}, 10);
  measure("a", "gate", {"open", "shut"}, 12);
  ASSERT_TRUE(writer.flush());
  const StoreReader reader(path_);
  const auto below = [&](ChartQuery query) {
    query.source = 1;
    query.series = {{"tokens", "", ""}};
    return reader.stateChanges(reader.chart(query), query);
  };
  const StateChanges gate = {{minute(0), "open"}, {minute(2), "shut"},  {minute(5), "open"}, {minute(7), "shut"},
                             {minute(8), ""},     {minute(12), "open"}, {minute(13), "shut"}};
  const StateChanges lamp = {{minute(8), "on"}, {minute(9), "off"}, {minute(10), ""}};
  EXPECT_THAT(below({.from = minute(0), .to = minute(60)}), ElementsAre(Pair("gate", gate), Pair("lamp", lamp)));
  EXPECT_THAT(below({.from = minute(3), .to = minute(6)}),
              ElementsAre(Pair("gate", StateChanges({{minute(3), "shut"}, {minute(5), "open"}}))));
  const StateChanges of_b = {{minute(4), "shut"}, {minute(5), "open"}, {minute(7), "shut"}, {minute(8), ""}};
  EXPECT_THAT(below({.from = minute(0), .to = minute(60), .only = 2}), ElementsAre(Pair("gate", of_b)));
  EXPECT_THAT(reader.stateChanges(2, minute(0), minute(60)), ElementsAre(Pair("gate", of_b)));
}

// Of pictures that were measured again those states count that are there.
TEST_F(StoredStates, OfAChartOfAnArchiveAreThoseOfTheSeriesThatHasAny) {
  StoreWriter writer(path_);
  for (const char* model : {"a", "b"}) {
    SessionInfo info = session("archive", 0);
    info.model_digest = model;
    writer.beginSession(info, kNoon);
    for (int hour = 0; hour < 3; ++hour) {
      Sample sample = sampleAt(kNoon + hour * kHourMs);
      if (*model == 'a')
        sample.states = {{.name = "gate", .state = "open", .probability = 1, .sure = true, .counted = "open"}};
      writer.append(sample);
    }
  }
  ASSERT_TRUE(writer.flush());
  const StoreReader reader(path_);
  const ChartQuery query{.source = 1, .from = kNoon, .to = kNoon + kDayMs, .series = {{"tokens", "", ""}}};
  EXPECT_THAT(reader.stateChanges(reader.chart(query), query),
              ElementsAre(Pair("gate", StateChanges({{kNoon, "open"}}))));
}

TEST_F(StoredStates, PartsTogetherHaveThose) {
  recordStates(path_);
  recordStates(folder_ / "b.db", "camera 0", kNoon + kHourMs);
  mergeDatabases({path_, folder_ / "b.db"}, folder_ / "all.db");
  const StoreReader reader(folder_ / "all.db");
  ASSERT_THAT(allSamples(reader), SizeIs(16));
  EXPECT_EQ(allSamples(reader)[15].states.at(0).counted, "open");
  EXPECT_THAT(reader.states(1, kNoon, kNoon + 2 * kHourMs).at(0).changes, SizeIs(4));

  // The pictures of an archive lie between those of the other part.
  const std::pair<const char*, std::vector<const char*>> parts[] = {
      {"1.db", {"0,'open'", "20,'closed'", "40,'closed'", "50,''", "60,'closed'"}},
      {"2.db", {"5,''", "10,'open'", "20,''", "30,'closed'", "50,'open'", "60,'open'"}}};
  for (const auto& [name, changes] : parts) {
    record(folder_ / name, {sampleAt(kNoon + (name[0] == '2'))}, session("archive"));
    runSql(folder_ / name, "UPDATE source SET archive = 1");
    for (const std::string change : changes)
      runSql(folder_ / name, "INSERT INTO state_change VALUES(1,'gate'," + change + ")");
  }
  mergeDatabases({folder_ / "1.db", folder_ / "2.db"}, folder_ / "archive.db");
  EXPECT_EQ(runSql(folder_ / "archive.db", "SELECT group_concat(time_ms || state) FROM state_change"),
            "0open,20closed,50open");
}

}  // namespace
}  // namespace mpm::monitor::test
