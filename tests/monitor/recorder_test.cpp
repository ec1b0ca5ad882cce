// SPDX-License-Identifier: Apache-2.0
#include "monitor/recorder.h"

#include <opencv2/imgcodecs.hpp>

#include "monitor/privacy.h"
#include "monitor/results.h"
#include "monitor/sql.h"
#include "monitor/store/calendar.h"
#include "support/pictures.h"
#include "support/throws_with.h"

namespace mpm::monitor::test {
namespace {

using RecorderTest = InFolder;

InferenceResult resultAt(std::int64_t ms, int session = 1, int grey = 30) {
  InferenceResult result = resultOf({{"road"}, {"car"}, {""}}, cv::Mat(4, 4, CV_8UC3, cv::Scalar::all(grey)),
                                    kNoon + ms, {4, 4}, mpmBefore({1, 2}));
  result.estimate.labels.row(0).setTo(2);
  result.estimate.tokens = {16, 12, 9};
  result.estimate.ms.total = 3;
  result.session = session;
  return result;
}

cv::Mat sceneOf(int rows, int columns) {
  cv::Mat scene;
  cv::GaussianBlur(mpm::test::noisePicture(rows, columns, 5), scene, {}, 3);
  return scene;
}

std::vector<Event> eventsButBeats(const StoreReader& reader) {
  auto events = allEvents(reader);
  std::erase_if(events, [](const Event& event) { return event.kind == EventKind::kHeartbeat; });
  return events;
}

TEST_F(RecorderTest, ASampleHasTheFramesThatWereDroppedSinceTheOneBefore) {
  Recorder recorder({.source = "camera 0"}, nullptr);
  EXPECT_EQ(recorder.add(resultAt(0), 5)->whole().value("dropped"), 5);
  EXPECT_EQ(recorder.add(resultAt(1000), 7)->whole().value("dropped"), 2);
}

TEST_F(RecorderTest, PixelsWithoutAnObjectAreOfNoClass) {
  vision::Region window = regionNamed("window");
  window.size = {4, 4};
  window.polygons = {{{0, 0}, {3, 0}, {3, 1}, {0, 1}}};
  Recorder recorder({.source = "camera 0"}, nullptr);
  recorder.setRegions({window});
  InferenceResult result = resultAt(0);
  result.estimate.labels = cv::Mat(result.frame.image.size(), CV_8U, cv::Scalar(255));
  result.estimate.labels.row(0).setTo(1);
  const Sample sample = recorder.add(result, 0).value();
  const double share = 1.0 / result.estimate.labels.rows;
  EXPECT_THAT(sample.whole().areas, ElementsAre(std::pair(1, share))) << "of the whole picture";
  ASSERT_EQ(sample.regions.size(), 2u);
  ASSERT_EQ(sample.regions[1].areas.size(), 1u);
  EXPECT_EQ(sample.regions[1].areas[0].first, 1);
}

TEST_F(RecorderTest, OneSamplePerInterval) {
  EXPECT_MPM_ERROR(Recorder({.source = "camera 0", .every_s = -1}, nullptr), "negative");
  Recorder recorder({.source = "camera 0", .every_s = 1}, nullptr);
  int samples = 0;
  for (int frame = 0; frame < 2500; ++frame)  // 25 fps, frames come a little early or late
    samples += recorder.add(resultAt(frame * 40 + (frame * 7) % 13), 0).has_value();
  EXPECT_NEAR(samples, 100, 1);
  Recorder slow({.source = "camera 0", .every_s = 1}, nullptr);
  samples = 0;
  for (int frame = 0; frame < 100; ++frame) samples += slow.add(resultAt(frame * 1500), 0).has_value();
  EXPECT_EQ(samples, 100) << "a source slower than the interval loses none";
  for (const RecorderOptions& options : {RecorderOptions{.source = "camera 0", .every_s = 0},
                                         RecorderOptions{.source = "folder", .every_s = 60, .every_frame = true}}) {
    Recorder every(options, nullptr);
    for (int frame = 0; frame < 100; ++frame) EXPECT_TRUE(every.add(resultAt(frame), 0));
    every.close();
    EXPECT_FALSE(every.add(resultAt(100), 0)) << "of a source that is closed";
  }
}

TEST_F(RecorderTest, ANewModelOrScheduleIsANewSession) {
  StoreWriter store(path_);
  Recorder recorder({.source = "camera 0", .every_s = 0}, &store);
  for (int session : {1, 1, 2, 2, 2, 1}) {
    InferenceResult result = resultAt(session, session);
    if (session == 2) result.settings = "refine=guided";
    recorder.add(result, 0);
  }
  ASSERT_TRUE(store.flush());
  const StoreReader reader(path_);
  const auto sessions = reader.sessions(1);
  ASSERT_THAT(sessions, SizeIs(3));
  EXPECT_THAT(sessions[0].classes, ElementsAre("road", "car", "class_2"));
  EXPECT_EQ(std::tuple(sessions[0].model_digest, sessions[0].reduce, sessions[0].tokens, sessions[0].settings),
            std::tuple("00000000000000a1", "mpm:blocks=1,2", 16, ""));
  EXPECT_EQ(sessions[1].settings, "refine=guided");
  EXPECT_THAT(messagesOf(allEvents(reader)),
              ElementsAre("'m.onnx' takes over, reduction mpm:blocks=1,2",
                          "'m.onnx' takes over, reduction mpm:blocks=1,2, refine=guided"))
      << "the first one took nothing over";
}

TEST_F(RecorderTest, AViewThatMovesIsAnEvent) {
  const cv::Mat scene = sceneOf(200, 300);
  // An hour in which the view moves by this. Returns the last sample.
  const auto watch = [&](int right, int down, const std::string& file) {
    fs::remove(path_);
    StoreWriter store(path_);
    Recorder recorder({.source = "camera 0", .every_s = 60, .every_frame = !file.empty(), .quality = {.sharp = 0}},
                      &store);
    Sample sample;
    for (int minute = 0; minute < 60; ++minute) {
      InferenceResult result = resultAt(minute * 60'000);
      const bool moved = minute >= 30;
      result.frame.image = scene(cv::Rect(moved ? 30 - right : 30, moved ? 20 - down : 20, 240, 160)).clone();
      result.frame.file = file;
      sample = recorder.add(result, 0).value();
    }
    return sample;
  };
  for (const char* file : {"", "folder/a.png"}) {
    watch(15, -8, file);
    const StoreReader reader(path_);
    const auto events = eventsButBeats(reader);
    ASSERT_THAT(events, SizeIs(1));
    EXPECT_EQ(events[0].kind, EventKind::kView);
    EXPECT_STREQ(toString(events[0].kind), "view");
    EXPECT_EQ(events[0].severity, Severity::kWarning);
    EXPECT_THAT(events[0].message, HasSubstr("the camera was moved: what it shows moved 15 px right and 8 px up. "));
    EXPECT_EQ(events[0].time, kNoon + 34 * kMinuteMs) << "the fifth picture";
    EXPECT_THAT(reader.sessions(1), SizeIs(2));
  }
  const Sample last = watch(4, 2, "");
  ASSERT_TRUE(last.measured_offset);
  EXPECT_NEAR(last.measured_offset->right, 4, 0.3);
  EXPECT_NEAR(last.measured_offset->down, 2, 0.3);
  const StoreReader reader(path_);
  const auto events = eventsButBeats(reader);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].severity, Severity::kInfo);
  EXPECT_THAT(events[0].message, HasSubstr("the camera was moved a little: what it shows moved 4 px right and 2 px d"));
  EXPECT_THAT(reader.sessions(1), SizeIs(1)) << "regions move along";
  EXPECT_FALSE(allSamples(reader).front().measured_offset) << "the view is not known yet";
}

// What `hide` and `blur` cover leaves no trace in the stored reference, also where it stands still for days.
TEST_F(RecorderTest, TheStoredViewKnowsNothingOfWhatMustNotBeSeen) {
  const PrivacyOptions options{.hidden = {regionNamed("window")}, .blurred = {"car"}};
  const cv::Rect window(0, 0, 34, 30), car(150, 60, 40, 30);  // the region was drawn on a picture of 64 x 48
  const auto learned = [&](const PrivacyOptions& hidden, int seed) {
    const std::string path = folder_ / std::to_string(seed) + hidden.json().substr(0, 1) + ".db";
    InferenceResult result = resultAt(0);
    result.frame.image = sceneOf(160, 240);
    result.estimate.labels = cv::Mat::zeros(160, 240, CV_8U);
    result.estimate.labels(car).setTo(1);
    for (const cv::Rect& part : {window, car})
      mpm::test::noisePicture(part.height, part.width, seed).copyTo(result.frame.image(part));
    StoreWriter store(path);
    Privacy privacy(hidden);
    Recorder recorder({.source = "camera 0",
                       .every_s = 60,
                       .privacy = hidden.json(),
                       .hidden = [&](const auto& of, const ViewMotion& place) { return privacy.hiddenIn(of, place); }},
                      &store);
    for (int minute = 0; minute < 12; ++minute) {
      result.frame.time = kNoon + minute * kMinuteMs;
      result.frame.steady = minute * kMinuteMs;
      recorder.add(result, 0);
    }
    store.flush();
    EXPECT_EQ(StoreReader(path).privacy("camera 0"), hidden.json());
    return StoreReader(path).view("camera 0").value().edges;
  };
  EXPECT_GT(cv::norm(learned(options, 1)), 0);
  EXPECT_EQ(cv::norm(learned(options, 1), learned(options, 2), cv::NORM_INF), 0);
  EXPECT_GT(cv::norm(learned({}, 1), learned({}, 2), cv::NORM_INF), 0) << "without privacy it is there";
}

TEST_F(RecorderTest, AnotherPrivacyBeginsToLearnAnew) {
  const PrivacyOptions options{.hidden = {regionNamed("window")}};
  InferenceResult result = resultAt(0);
  result.frame.image = sceneOf(160, 240);
  StoreWriter store(path_);
  Recorder recorder({.source = "camera 0", .every_s = 60}, &store);
  const auto add = [&] {
    result.frame.time += kMinuteMs;
    result.frame.steady += kMinuteMs;
    return recorder.add(result, 0)->measured_offset.has_value();
  };
  const auto view = [&] {
    store.flush();
    return StoreReader(path_).view("camera 0").value();
  };
  for (int i = 0; i < 12; ++i) add();
  EXPECT_TRUE(add());
  recorder.setPrivacy("");
  EXPECT_TRUE(add()) << "it is the same";
  EXPECT_EQ(view().pictures, 10);
  recorder.setPrivacy(options.json());
  EXPECT_EQ(view().pictures, 0);
  EXPECT_TRUE(view().edges.empty());
  EXPECT_FALSE(add());
  EXPECT_EQ(view().pictures, 1);
}

TEST_F(RecorderTest, KnowsTheViewOfAnEarlierWatch) {
  const cv::Mat scene = sceneOf(160, 240);
  InferenceResult result = resultAt(0);
  result.frame.image = scene;
  {
    StoreWriter store(path_);
    Recorder recorder({.source = "camera 0", .every_s = 0}, &store);
    for (int minute = 0; minute < 12; ++minute) {
      result.frame.time = kNoon + minute * kMinuteMs;
      recorder.add(result, 0);
    }
  }
  const StoreReader reader(path_);
  EXPECT_FALSE(reader.view("camera 1"));
  const auto view = reader.view("camera 0").value();
  EXPECT_EQ(view.size, scene.size());
  EXPECT_EQ(std::tuple(view.pictures, view.learned), std::tuple(10, kNoon + 9 * kMinuteMs));
  for (const bool known : {false, true}) {
    Recorder recorder({.source = "camera 0", .every_s = 0}, nullptr);
    if (known) recorder.setView(view);
    EXPECT_EQ(recorder.add(result, 0)->measured_offset.has_value(), known) << "at the first picture";
  }
  // A frame is measured where its own view has moved the regions to: as a sample, and again, after others, to be shown.
  Recorder recorder({.source = "camera 0", .every_s = 0}, nullptr);
  recorder.setView(view);
  recorder.setRegions(
      {{.name = "tree", .size = scene.size(), .polygons = {{{60, 0}, {119, 0}, {119, 159}, {60, 159}}}}});
  InferenceResult moved = result;
  moved.frame.time += kHourMs;
  const cv::Matx23d shift(1, 0, 10, 0, 1, 0);
  moved.frame.image = cv::Mat();
  cv::warpAffine(scene, moved.frame.image, shift, scene.size());
  for (const auto& [one, left] : {std::pair(&result, 60), std::pair(&moved, 70)}) {
    one->estimate.labels = cv::Mat::zeros(scene.size(), CV_8U);
    one->estimate.labels.colRange(left, left + 60).setTo(2);
  }
  const auto tree = [](const Sample& sample) { return sample.regions.at(1).areas.back().second; };
  EXPECT_NEAR(tree(*recorder.add(result, 0)), 1, 0.01);
  EXPECT_NEAR(tree(*recorder.add(moved, 0)), 1, 0.01);
  EXPECT_NEAR(tree(recorder.measure(moved)), 1, 0.01);
  result.repeated = true;
  EXPECT_NEAR(tree(recorder.measure(result)), 1, 0.01) << "of an earlier picture";
}

TEST_F(RecorderTest, OlderPicturesOfAnArchiveLeaveTheViewOfTheNewestAlone) {
  const cv::Mat scene = sceneOf(260, 360);
  const std::string file = folder_ / "picture.png";
  cv::imwrite(file, scene);
  std::vector<std::string> reported;
  const auto watch = [&](StoreWriter* store) {
    return Recorder({.source = "yard", .every_s = 0, .archive_clock = vision::CameraClock("+00:00"), .own_clock = true},
                    store, [&](const Event& event) { reported.push_back(event.message); });
  };
  // What the picture of a minute shows has moved by this much.
  const auto offsetIn = [&](Recorder& recorder, int minute, int right, int down) {
    InferenceResult result = resultAt(minute * kMinuteMs);
    result.frame.image = scene(cv::Rect(60 - right, 50 - down, 240, 160)).clone();
    result.frame.file = file;
    const Sample sample = recorder.add(result, 0).value();
    EXPECT_NEAR(sample.view_offset.right, sample.measured_offset ? sample.measured_offset->right : 0, 1e-9);
    return sample.measured_offset;
  };
  std::vector<Sample> before;
  {
    StoreWriter store(path_);
    Recorder recorder = watch(&store);
    for (int minute = 100; minute < 112; ++minute) offsetIn(recorder, minute, 0, 0);
    for (int minute = 112; minute < 118; ++minute) offsetIn(recorder, minute, 4, 2);
  }
  ASSERT_THAT(reported, ElementsAre(HasSubstr("moved a little")));
  reported.clear();
  const auto stored = [&] {
    const auto view = StoreReader(path_).view("yard").value();
    return std::tuple(view.learned, view.pictures, view.motion.right, cv::sum(view.edges)[0]);
  };
  const auto known = stored();
  {
    const StoreReader reader(path_);
    StoreWriter store(path_);
    Recorder recorder = watch(&store);
    const auto samples = allSamples(reader);
    recorder.setView(reader.view("yard").value(), reader.viewSince(reader.sources().at(0), samples.back().time));
    recorder.resume(samples, {}, samples.back().time, 0);
    // Of a day on which the camera stood otherwise: a view of their own, and a move of it is one.
    for (int minute = -1400; minute < -1390; ++minute) EXPECT_FALSE(offsetIn(recorder, minute, 30, 20)) << minute;
    EXPECT_NEAR(offsetIn(recorder, -1390, 30, 20).value().right, 0, 0.5);
    EXPECT_THAT(reported, IsEmpty());
    for (int minute = -1389; minute < -1384; ++minute) offsetIn(recorder, minute, 0, 0);
    EXPECT_THAT(reported, ElementsAre(HasSubstr("moved 30 px left and 20 px up")));
    // Between pictures of the view that is known: they are found in it.
    EXPECT_NEAR(offsetIn(recorder, 105, 0, 0).value().right, 0, 0.5);
    for (int minute = 113; minute < 117; ++minute)
      EXPECT_NEAR(offsetIn(recorder, minute, 4, 2).value().right, 4, 0.5) << minute;
    EXPECT_NEAR(offsetIn(recorder, 119, 4, 2).value().right, 4, 0.5);
    EXPECT_THAT(reported, SizeIs(1));
  }
  EXPECT_EQ(stored(), known) << "of less than an hour later nothing is learned";
}

TEST_F(RecorderTest, AreaAlarmsFollowTheNamesOfANewModel) {
  std::vector<std::string> reported;
  const RecorderOptions options{
      .source = "camera 0", .every_s = 0, .alarms = {.alarms = {parseAlarm("sky>20")}, .minutes = 0}};
  Recorder recorder(options, nullptr, [&](const Event& event) {
    if (event.kind != EventKind::kSession) reported.push_back(event.message);
  });
  std::int64_t time = 0;
  int session = 0;
  // A quarter of the picture is class 2, the rest class 0.
  const auto addWith = [&](std::vector<std::string> names) {
    InferenceResult result = resultAt(time += 1000, ++session);
    auto info = std::make_shared<ModelInfo>(*result.model);
    info->facts.classes.clear();
    for (std::string& name : names) info->facts.classes.push_back({std::move(name), {}});
    result.model = info;
    recorder.add(result, 0);
  };
  addWith({"road", "sky", "car"});
  EXPECT_THAT(reported, SizeIs(0));
  addWith({"road", "car", "sky"});
  EXPECT_THAT(reported, ElementsAre("area of sky 25 % above 20 % for 0 min"));
  addWith({"road", "car", "sea"});
  addWith({"road", "sea"});
  ASSERT_THAT(reported, SizeIs(2)) << "once";
  EXPECT_EQ(reported[1], "the model has no class 'sky': its alarm rests");
  addWith({"sky"});
  EXPECT_THAT(reported, SizeIs(3)) << "and rings again";
  recorder.setRules({}, {}, {.alarms = {parseAlarm("tree>20")}, .minutes = 0}, {}, kNoon);
  EXPECT_EQ(reported.back(), "the model has no class 'tree': its alarm rests") << "other alarms, the same model";
}

TEST_F(RecorderTest, AlarmsOfARegionThatIsGoneRest) {
  std::vector<std::string> reported;
  const RecorderOptions options{
      .source = "camera 0", .every_s = 0, .alarms = {.alarms = {parseAlarm("door:brightness>-1")}, .minutes = 0}};
  Recorder recorder(options, nullptr, [&](const Event& event) { reported.push_back(event.message); });
  vision::Region door{.name = "door", .size = {4, 4}, .polygons = {{{0, 0}, {3, 0}, {3, 3}}}};
  recorder.setRegions({door});
  recorder.add(resultAt(0), 0);
  ASSERT_THAT(reported, SizeIs(1)) << "it rings";
  door.ignore = true;
  recorder.setRegions({door});
  recorder.setRegions({door});
  ASSERT_THAT(reported, SizeIs(2)) << "once";
  EXPECT_EQ(reported[1], "no region 'door' is measured: its alarm rests");
  recorder.setRules({}, {}, {.alarms = {parseAlarm("yard:brightness>-1")}, .minutes = 0}, {}, kNoon);
  EXPECT_EQ(reported.back(), "no region 'yard' is measured: its alarm rests");
}

TEST_F(RecorderTest, BetweenTheRunsOfATimerNoFramesComeIfNoneComesNow) {
  std::vector<std::string> reported;
  Recorder recorder(
      {.source = "camera 0", .every_s = 60, .once = true, .alarms = {.alarms = {parseAlarm("no-frame>30")}}}, nullptr,
      [&](const Event& event) { reported.push_back(event.message); });
  recorder.resume({sampleAt(kNoon)}, {}, kNoon + kMinuteMs, 0);
  recorder.tick({.state = CaptureState::kOpening, .frame_age_s = -1}, kNoon + kMinuteMs, 0);
  EXPECT_THAT(reported, SizeIs(0)) << "the camera takes its time";
  recorder.tick({.state = CaptureState::kRetrying, .attempt = 1, .frame_age_s = -1}, kNoon + kMinuteMs, 1000);
  EXPECT_THAT(reported, ElementsAre("no frame for 30 s"));
}

TEST_F(RecorderTest, OfRunsOfATimerTheMeantPaceIsKnownFromAMinuteOn) {
  for (const auto& [once, every_s, meant] :
       {std::tuple(true, 60, "0.0"), {true, 61, "61.0"}, {false, 60, "60.0"}, {false, 61, "61.0"}}) {
    const std::string path = folder_ / (std::to_string(every_s) + (once ? "once.db" : ".db"));
    StoreWriter store(path);
    Recorder recorder({.source = "camera 0", .every_s = static_cast<double>(every_s), .once = once}, &store);
    recorder.add(resultAt(0), 0);
    ASSERT_TRUE(store.flush());
    EXPECT_EQ(runSql(path, "SELECT every_s FROM session"), meant) << once;
  }
}

// A watch in pieces, one process for each sample, says the same as one that goes on.
TEST_F(RecorderTest, GoesOnWhereAnEarlierWatchEnded) {
  const auto messages = [&](const std::string& name, bool in_pieces) {
    RecorderOptions options{.source = "camera 0", .every_s = 60};
    options.alarms = {.alarms = {parseAlarm("brightness>100"), parseAlarm("car<20")}, .minutes = 2.5};
    options.quality = {.dark = 10, .contrast = 0, .pictures = 2};
    std::vector<std::string> said;
    const auto tell = [&](const Event& event) {
      if (event.kind != EventKind::kHeartbeat) said.push_back(std::to_string(event.time - kNoon) + event.message);
    };
    std::optional<StoreWriter> store(folder_ / name);
    std::optional<Recorder> recorder(std::in_place, options, &*store, tell);
    int minute = 0;
    for (const int grey : {30, 120, 120, 120, 120, 120, 30, 120, 30, 5, 5, 5, 30, 30}) {
      const std::int64_t ms = minute++ * kMinuteMs;
      if (in_pieces && minute > 1) {
        store.reset();
        const StoreReader before(folder_ / name);
        store.emplace(folder_ / name);
        recorder.emplace(options, &*store, tell);
        recorder->resume(before.lastSamples(1, 100), before.alarms(1), kNoon + ms, ms);
      }
      InferenceResult result = resultAt(ms);
      result.frame.image = cv::Mat(64, 64, CV_8UC3, cv::Scalar::all(grey));
      result.estimate.labels = cv::Mat(64, 64, CV_8U, cv::Scalar(minute > 5));
      recorder->add(result, 0);
      store->flush();
    }
    return said;
  };
  const std::vector<std::string> whole = messages("a.db", false);
  EXPECT_THAT(whole, SizeIs(6)) << "two alarms ring and end, pictures are dark and good again";
  EXPECT_EQ(messages("b.db", true), whole);
}

// What a start says of its alarms before it has read where they stood would end, for whoever listens, one that rings.
TEST_F(RecorderTest, AlarmsAreNotKnownBeforeTheStoredOnesAre) {
  const RecorderOptions options{.source = "camera 0", .alarms = {.alarms = {parseAlarm("tokens>50")}}};
  const auto ignore = [](const Event&) {};
  Recorder again(options, nullptr, ignore);
  EXPECT_FALSE(again.alarms());
  again.resume({}, {{"tokens>50", kNoon, true}}, kNoon + kMinuteMs, 0);
  again.setRecalled();
  EXPECT_EQ(again.alarms(), Json({{"tokens>50", true}}));
  Recorder first(options, nullptr, ignore);
  first.setRecalled();
  EXPECT_EQ(first.alarms(), Json({{"tokens>50", false}})) << "nothing is stored";
  Recorder unread(options, nullptr, ignore);
  unread.add(resultAt(0), 0);
  EXPECT_TRUE(unread.alarms()) << "a database that does not answer keeps no alarm back for ever";
}

// The scene gives a picture of each ten minutes as fast as the model takes it.
TEST_F(RecorderTest, AlarmsOfASceneGoByItsOwnClock) {
  RecorderOptions options{.source = "demo:street", .own_clock = true};
  options.alarms = {.alarms = {parseAlarm("brightness>100")}, .minutes = 25};
  std::vector<std::string> said;
  const auto tell = [&](const Event& event) {
    if (event.kind == EventKind::kAlarm) said.push_back(std::to_string((event.time - kNoon) / kMinuteMs));
  };
  const auto show = [&](Recorder& recorder, int picture) {
    InferenceResult result = resultAt(picture * 10 * kMinuteMs);
    result.frame.steady = 1000 + picture * 200;
    result.frame.image = cv::Mat(64, 64, CV_8UC3, cv::Scalar::all(120));
    recorder.add(result, 0);
  };
  options.every_s = 0;
  {
    Recorder recorder(options, nullptr, tell);
    for (int picture = 0; picture < 6; ++picture) show(recorder, picture);
  }
  EXPECT_THAT(said, ElementsAre("30"));
  // After a restart, where the scene is ahead of the clock of this machine, it has been outside for ten minutes.
  Recorder again(options, nullptr, tell);
  again.resume({sampleAt(kNoon), sampleAt(kNoon + 10 * kMinuteMs)}, {{"brightness>100", kNoon, false}}, kNoon - kDayMs,
               0);
  for (int picture = 2; picture < 5; ++picture) show(again, picture);
  EXPECT_THAT(said, ElementsAre("30", "30"));
}

// Who adds an alarm because something is wrong is told so.
TEST_F(RecorderTest, ANewAlarmRingsThoughItsValueWasOutsideBefore) {
  RecorderOptions options{.source = "camera 0", .every_s = 60};
  std::vector<std::string> said;
  std::int64_t ms = 0;
  for (const char* alarm : {"", "brightness>100", "brightness>100", "brightness>110"}) {
    if (*alarm) options.alarms = {.alarms = {parseAlarm(alarm)}, .minutes = 2.5};
    std::optional<StoreReader> before;
    if (ms > 0) before.emplace(path_);
    StoreWriter store(path_);
    Recorder recorder(options, &store, [&](const Event& event) {
      if (event.kind == EventKind::kAlarm || event.kind == EventKind::kAlarmEnded) said.push_back(event.message);
    });
    store.setSource(options.source);
    if (before) recorder.resume(before->lastSamples(1, 100), before->alarms(1), kNoon + ms, ms);
    store.flush();
    // Killed here, it does not say again that the alarm of before has ended.
    for (const AlarmState& stored : before ? StoreReader(path_).alarms(1) : std::vector<AlarmState>())
      EXPECT_EQ(stored.rule, alarm);
    for (int sample = 0; sample < 4; ++sample, ms += kMinuteMs) {
      InferenceResult result = resultAt(ms);
      result.frame.image = cv::Mat(64, 64, CV_8UC3, cv::Scalar::all(120));
      recorder.add(result, 0);
    }
    store.flush();
  }
  const auto ended = "brightness no longer watched for";
  EXPECT_THAT(said, ElementsAre(HasSubstr("above 100"), ended, HasSubstr("above 110"))) << "each once";
  EXPECT_EQ(runSql(path_, "SELECT count(*) FROM event WHERE message = '" + std::string(ended) + "'"), "1");
}

// A dead man's switch: it says something while samples come, and nothing otherwise.
TEST_F(RecorderTest, AHeartbeatComesOnceADayWhileSamplesCome) {
  for (const bool archive : {false, true}) {
    std::vector<std::string> beats;
    std::vector<UnixMs> times;
    Recorder recorder({.source = "camera 0",
                       .every_s = 0,
                       .archive_clock = archive ? std::optional(vision::CameraClock()) : std::nullopt,
                       .own_clock = archive},
                      nullptr, [&](const Event& event) {
                        if (event.kind != EventKind::kHeartbeat) return;
                        beats.push_back(event.message);
                        times.push_back(event.time);
                      });
    const auto beatsAfter = [&](std::int64_t ms) {
      recorder.add(resultAt(ms), 0);
      return beats.size();
    };
    EXPECT_EQ(beatsAfter(0), 0u);
    EXPECT_EQ(beatsAfter(kMinuteMs), archive ? 0u : 1u) << "soon, so that a person sees it";
    for (const int hour : {1, 12, 24}) EXPECT_EQ(beatsAfter(hour * kHourMs), archive ? 0u : 1u) << hour;
    EXPECT_EQ(beatsAfter(25 * kHourMs), archive ? 0u : 2u);
    EXPECT_EQ(beatsAfter(100 * kHourMs), archive ? 0u : 3u) << "at once when samples come again";
    EXPECT_EQ(beats.empty() ? "" : beats[0], archive ? "" : "2 samples since this watch began");
    EXPECT_EQ(beats.size() > 1 ? beats[1] : "", archive ? "" : "4 samples since the heartbeat before");
    EXPECT_EQ(times.size() > 1 ? times[1] : 0, archive ? 0 : kNoon + 25 * kHourMs) << "of its sample";
  }
}

// Key frames come when they are due, not when it is the turn of a sample.
TEST_F(RecorderTest, AnAgreementWaitsForTheNextSample) {
  Recorder recorder({.source = "camera 0", .every_s = 1}, nullptr);
  const auto add = [&](std::int64_t ms, const ReuseReport& report) {
    InferenceResult result = resultAt(ms);
    result.estimate.reuse = report;
    return recorder.add(result, 0);
  };
  EXPECT_EQ(add(0, {.rows = 1})->whole().value("agreement"), std::nullopt);
  EXPECT_FALSE(add(300, {.key_frame = true, .agreement = 97.5}));
  EXPECT_FALSE(add(600, {.key_frame = true, .agreement = 99}));
  const auto sample = add(1000, {.rows = 0.25});
  EXPECT_EQ(sample->whole().value("rows"), 25);
  EXPECT_EQ(sample->whole().value("agreement"), 97.5) << "the lowest";
  EXPECT_EQ(add(2000, {.rows = 0.25})->whole().value("agreement"), std::nullopt);
  EXPECT_EQ(recorder.add(resultAt(3000), 0)->whole().value("rows"), std::nullopt) << "reuse is off";
}

TEST_F(RecorderTest, AFallingAgreementIsAnEvent) {
  const auto eventsOf = [&](const std::string& spec, const std::vector<double>& agreements) {
    std::vector<Event> events;
    fs::remove(path_);
    {
      StoreWriter store(path_);
      Recorder recorder({.source = "camera 0", .every_s = 60}, &store,
                        [&](const Event& event) { events.push_back(event); });
      std::int64_t ms = 0;
      for (const double agreement : agreements) {
        for (const bool key_frame : {true, false}) {
          InferenceResult result = resultAt(ms += 10);
          result.reuse = parseReuse(spec);
          result.estimate.reuse = ReuseReport{.key_frame = key_frame};
          if (key_frame) result.estimate.reuse->agreement = agreement;
          recorder.add(result, 0);
        }
      }
    }
    EXPECT_EQ(allEvents(StoreReader(path_)), events);
    return events;
  };
  const std::vector<double> low(ReuseDetector::kInARow, 94), high(20, 95.5);
  EXPECT_THAT(eventsOf("auto", high), SizeIs(0));
  std::vector<double> now_and_then(40, 80);
  for (int i = 0; i < 40; i += ReuseDetector::kInARow) now_and_then[i] = 96;
  EXPECT_THAT(eventsOf("auto", now_and_then), SizeIs(0)) << "never six in a row";

  std::vector<double> falls = low;
  falls.insert(falls.end(), low.begin(), low.end());
  falls.push_back(97.25);
  const auto events = eventsOf("auto", falls);
  ASSERT_THAT(events, SizeIs(2)) << "once, and once when it is over";
  EXPECT_EQ(events[0].kind, EventKind::kReuse);
  EXPECT_EQ(events[0].severity, Severity::kWarning);
  EXPECT_THAT(events[0].message, HasSubstr("94 % of the pixels, less than 95 % at 6 key frames in a row: let"));
  EXPECT_EQ(events[1].severity, Severity::kInfo);
  EXPECT_THAT(events[1].message, HasSubstr("97.25 %"));
  EXPECT_THAT(eventsOf("agreement=93", low), SizeIs(0)) << "as good as wanted";
  EXPECT_THAT(eventsOf("agreement=97", high).at(0).message, HasSubstr("less than 97 %"));
  EXPECT_THAT(eventsOf("threshold=12", low).at(0).message, HasSubstr("choose a lower threshold"));
}

TEST_F(RecorderTest, AnotherQualityOrPlaceWhileItRuns) {
  std::vector<Event> reported;
  StoreWriter store(path_);
  Recorder recorder({.source = "camera 0", .every_s = 0}, &store, [&](const Event& event) {
    if (event.kind == EventKind::kQuality) reported.push_back(event);
  });
  const auto grey = [](std::int64_t ms) {
    return resultOf({{"road"}}, cv::Mat(64, 64, CV_8UC3, cv::Scalar::all(30)), kNoon + ms, {4, 4}, mpmBefore({1, 2}));
  };
  EXPECT_EQ(recorder.add(grey(0), 0)->whole().value("fogged"), 1);
  EXPECT_THAT(reported, IsEmpty()) << "one of five";
  const vision::GeoPosition place{48, 11};
  recorder.setRules({}, place, {}, parseQuality("dark=100:pictures=1"), kNoon + 500);
  const Sample dark = recorder.add(grey(1000), 0).value();
  EXPECT_EQ(dark.whole().value("fogged"), 0);
  EXPECT_EQ(dark.whole().value("dark"), 1);
  EXPECT_THAT(reported, SizeIs(1));
  recorder.setRules({}, place, {}, parseQuality("contrast=0"), kNoon + 1500);
  EXPECT_EQ(recorder.add(grey(2000), 0)->flagged(), false);
  recorder.setRules({}, place, {}, parseQuality("contrast=0"), kNoon + 2500);
  ASSERT_TRUE(store.flush());
  EXPECT_EQ(storedPlace(StoreReader(path_), 1)->latitude, 48);
  EXPECT_EQ(storedPlace(StoreReader(path_), 1)->longitude, 11);
}

}  // namespace
}  // namespace mpm::monitor::test
