// SPDX-License-Identifier: Apache-2.0
// The whole watch with a source and a clock that the test holds in its hands.
#include "monitor/session.h"

#include <filesystem>
#include <opencv2/imgcodecs.hpp>

#include "base/atomic_file.h"
#include "monitor/fake_source.h"
#include "monitor/samples.h"
#include "monitor/send.h"
#include "monitor/sql.h"
#include "monitor/wait.h"
#include "support/gate.h"
#include "support/local_zone.h"
#include "support/pictures.h"
#include "support/throws_with.h"
#include "vision/model_files.h"

namespace mpm::monitor::test {
namespace {

using mpm::test::Gate;

const std::string kCamera = "rtsp://anna:geheim@yard/1";  // nothing is opened: the factories below are

std::optional<vision::Frame> frame(int call) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const cv::Mat image = mpm::test::noisePicture(48, 96, call + 1);
  return vision::Frame{.image = image, .name = "x", .source = "camera", .index = call};
}

PrivacyOptions hidesOnly(PrivacyOptions all) {
  all.blurred.clear();
  return all;
}

class SessionTest : public InFolder {
 protected:
  // A folder of pictures with these names.
  CameraPlan archiveOf(const std::vector<std::string>& names) const {
    const std::string pictures = folder_ / "pictures";
    std::filesystem::create_directory(pictures);
    for (std::size_t i = 0; i < names.size(); ++i)
      cv::imwrite(pictures + "/" + names[i], mpm::test::noisePicture(48, 96, static_cast<int>(i) + 1));
    return {.source = vision::parseSourceSpec(pictures),
            .every_s = 0,
            .every_frame = true,
            .archive = vision::ArchiveOptions()};
  }

  std::string database_ = folder_ / "a.db";
  std::atomic<UnixMs> clock_ = kNoon;
  Collected<Event> events_;
  Collected<CaptureStatus> states_;
  Collected<Sample> samples_;
  Collected<int> frames_;  // their streams
  Collected<std::string> pictures_;
  std::unique_ptr<Session> session_;

  SessionOptions options() {
    SessionOptions options{.model = kModel, .database = database_};
    options.now = [this] { return clock_.load(); };
    options.inference.reduce = mpmBefore({1, 2});
    options.inference.threads = 1;
    options.store.commit_s = options.store.retry_s = 0.01;
    return options;
  }
  void make() { make(options()); }
  void make(const SessionOptions& options) {
    session_.reset();
    session_ = std::make_unique<Session>(
        options,
        Session::Callbacks{
            .on_frame = [this](const InferenceResult& result, const Sample&) { frames_.add(result.frame.stream); },
            .on_sample = [this](const Sample& sample, const InferenceResult&) { samples_.add(sample); },
            .on_event = [this](const Event& event) { events_.add(event); },
            .on_state = [this](const CaptureStatus& status) { states_.add(status); },
            .on_picture = [this](const std::string& path, SnapshotWriter::Occasion) { pictures_.add(path); },
            .on_pictures_removed = {}});
  }
  static CameraPlan watch(SourceFactory factory = always(frame), const std::string& source = kCamera) {
    return {.source = vision::parseSourceSpec(source), .every_s = 0, .timeout_s = 60, .factory = std::move(factory)};
  }
  bool reported(const std::string& part) const {
    return std::ranges::any_of(events_.all(),
                               [&](const Event& event) { return event.message.find(part) != std::string::npos; });
  }
  // Ends the session and reads what it stored.
  StoreReader stored() {
    session_.reset();
    return StoreReader(database_);
  }
};

TEST_F(SessionTest, StartsAndStopsAndGoesOnWithAnotherSource) {
  make();
  EXPECT_FALSE(session_->isOpen());
  EXPECT_EQ(session_->status().source.state, CaptureState::kIdle);
  session_->open(watch());
  EXPECT_TRUE(session_->isOpen());
  EXPECT_EQ(session_->source(), "rtsp://***@yard/1");
  ASSERT_TRUE(eventually([&] { return samples_.size() >= 5; }));
  EXPECT_TRUE(session_->framesCome());
  EXPECT_EQ(session_->status().source.state, CaptureState::kLive);
  EXPECT_EQ(session_->model(), kModel);
  session_->close();
  EXPECT_FALSE(session_->isOpen());
  EXPECT_EQ(session_->source(), "");
  EXPECT_EQ(states_.all().back().state, CaptureState::kIdle);
  session_->open(watch(always(frame), "street"));
  const std::size_t before = samples_.size();
  ASSERT_TRUE(eventually([&] { return samples_.size() >= before + 5; }));
  EXPECT_THAT(states_.all().back().message, Not(HasSubstr("geheim")));

  const StoreReader reader = stored();
  ASSERT_THAT(reader.sources(), SizeIs(2));
  EXPECT_EQ(reader.sources()[0].name, "rtsp://***@yard/1");
  EXPECT_EQ(reader.count(1) + reader.count(2), static_cast<std::int64_t>(samples_.size()));
  EXPECT_TRUE(reader.sessions(1).at(0).ended);
  EXPECT_TRUE(reader.sessions(2).at(0).ended);
  EXPECT_THAT(messagesOf(allEvents(reader)), Contains("Live"));
}

TEST_F(SessionTest, FramesOfAClosedSourceAreNoSamplesOfTheNext) {
  make();
  for (int i = 0; i < 10; ++i) {
    session_->open(watch(always(frame), "camera " + std::to_string(i)));
    const std::size_t before = samples_.size();
    ASSERT_TRUE(eventually([&] { return samples_.size() > before + 1; }));
  }
  const StoreReader reader = stored();
  for (const SourceRecord& source : reader.sources()) EXPECT_THAT(reader.sessions(source.id), SizeIs(1));
}

TEST_F(SessionTest, ADiskThatIsNotThereYetCostsNoSample) {
  database_ = folder_ / "disk/a.db";
  EXPECT_MPM_ERROR(make(), "there is no folder");
  SessionOptions later = options();
  later.store.open_at_once = false;
  make(later);
  session_->open(watch());
  ASSERT_TRUE(eventually([&] { return samples_.size() >= 5; }));
  ASSERT_TRUE(eventually([&] { return reported("there is no folder"); }));
  EXPECT_FALSE(session_->status().store->writing);
  EXPECT_THAT(session_->status().store->problem, HasSubstr("a.db"));
  fs::create_directory(folder_ / "disk");
  ASSERT_TRUE(eventually([&] { return session_->status().store->writing; }));
  EXPECT_TRUE(eventually([&] { return reported("writing again"); }));
  session_->close();
  EXPECT_TRUE(session_->finish(60));
  EXPECT_EQ(stored().count(1), static_cast<std::int64_t>(samples_.size()));
}

TEST_F(SessionTest, AFailedPictureIsReportedOnceUntilOneWorks) {
  SessionOptions lapse = options();
  std::ofstream(folder_ / "shots") << "a file";
  lapse.snapshots = {.folder = folder_ / "shots", .every_minutes = 0};
  make(lapse);
  session_->open(watch());
  ASSERT_TRUE(eventually([&] { return reported("cannot make the folder"); }));
  ASSERT_TRUE(eventually([&] { return samples_.size() >= 20; }));
  fs::remove(folder_ / "shots");
  ASSERT_TRUE(eventually([&] { return pictures_.size() > 0; }));
  EXPECT_EQ(std::ranges::count(events_.all(), EventKind::kStorage, &Event::kind), 1);
}

TEST_F(SessionTest, APictureWaitsForTheDatabase) {
  fs::create_directory(folder_ / "disk");
  SessionOptions slow = options();
  slow.database = folder_ / "disk/a.db";
  slow.store.open_at_once = false;
  slow.snapshots.folder = folder_ / "shots";
  Collected<InferenceResult> results;
  fs::rename(folder_ / "disk", folder_ / "away");  // until it comes, the database cannot be opened
  Session session(slow, {.on_frame = [&](InferenceResult result, const Sample&) { results.add(std::move(result)); },
                         .on_event = [this](const Event& event) { events_.add(event); },
                         .on_picture = [&](const std::string& path, auto) { pictures_.add(path); }});
  CameraPlan dark = watch();
  dark.night = NightByBrightness{.night_below = 200, .day_above = 255};
  session.open(dark);
  ASSERT_TRUE(eventually([&] { return results.size() > 0; }));
  ASSERT_TRUE(session.snapshots().save(results.all()[0], session.measure(results.all()[0]), session.source()));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(pictures_.size(), 0U) << "nobody knows whose it is";
  fs::rename(folder_ / "away", folder_ / "disk");
  ASSERT_TRUE(eventually([&] { return pictures_.size() == 1; }));
  EXPECT_FALSE(reported("no picture is written"));
  const std::string facts = readFile(folder_ / "shots/2026-06-01T12-00-00.000Z.json");
  EXPECT_THAT(facts, AllOf(HasSubstr("rtsp://***@yard/1"), HasSubstr("\"night\": true")));
}

// Home Assistant takes a camera for away by the pace that its description says.
TEST_F(SessionTest, TheDescriptionGoesByThePace) {
  SessionOptions told = options();
  told.camera = "yard";
  told.teller = std::make_shared<Teller>();
  const std::string why = whyNotSent(*told.teller, {.mqtt = {.address = "127.0.0.1:9", .every = 0.001}});
  if (!why.empty()) GTEST_SKIP() << why;
  std::atomic<std::int64_t> step = 1000;  // from sample to sample
  told.steady = [&] { return static_cast<std::int64_t>(samples_.size()) * step; };
  clock_ = unixNow();
  make(told);
  CameraPlan each_second = watch();
  each_second.every_s = 1;
  session_->open(each_second);
  const auto expires = [&](int seconds) {
    return eventually([&] {
      session_->tick();
      for (const auto& [topic, payload] : StoreReader(database_).announced())
        if (Json::parse(payload)["components"]["tokens"]["expire_after"] == seconds) return true;
      return false;
    });
  };
  EXPECT_TRUE(expires(70));
  step = 10'000;
  EXPECT_TRUE(expires(85));
  session_.reset();
}

TEST_F(SessionTest, AModelThatIsReplacedBeginsANewSession) {
  const std::string path = folder_ / "own.onnx";
  fs::copy_file(kModel, path);
  SessionOptions own = options();
  own.model = path;
  make(own);
  session_->open(watch());
  ASSERT_TRUE(eventually([&] { return samples_.size() >= 2; }));
  fs::copy_file(kOther, folder_ / "new.onnx");
  fs::rename(folder_ / "new.onnx", path);
  ASSERT_TRUE(eventually([&] { return reported("the model is new: '" + path + "' was replaced"); }));
  session_->worker().setReduction(mpmBefore({1}));
  ASSERT_TRUE(eventually([&] { return samples_.all().back().token_counts.size() == 2; }));
  const StoreReader reader = stored();
  const auto sessions = reader.sessions(1);
  ASSERT_THAT(sessions, SizeIs(3));
  EXPECT_NE(sessions[0].model_digest, sessions[1].model_digest);
  EXPECT_EQ(sessions[1].model_digest, sessions[2].model_digest);
  EXPECT_EQ(sessions[2].reduce, "mpm:blocks=1");
  EXPECT_THAT(reader.series(1), SizeIs(3));
}

// A head that was taught again is another one of the same name: a series of its own, and what is broken changes
// nothing.
TEST_F(SessionTest, StatesThatAreTaughtAgainBeginANewSeries) {
  const std::string path = folder_ / "gate.json";
  evaluation::StateHead head{.name = "gate", .states = {"closed", "open"}, .model_name = "tiny"};
  head.model_digest = vision::modelDigest(kModel);
  EstimatorOptions with_features = options().inference;
  with_features.features = true;
  const int features = Estimator(kModel, with_features).estimate(frame(0)->image).features.cols;
  head.weights = cv::Mat(2, features + 1, CV_64F, cv::Scalar(0));
  const auto teach = [&](double closed, double open) {
    head.weights.at<double>(0, features) = closed;
    head.weights.at<double>(1, features) = open;
    evaluation::writeStates(path, head);
  };
  const auto shows = [&](const std::string& state) {
    return eventually([&] {  // without tick(), which is on the thread of the window: files are read on another one
      return samples_.size() > 0 && !samples_.all().back().states.empty() &&
             samples_.all().back().states[0].state == state;
    });
  };
  teach(9, 0);
  CameraPlan gate = watch();
  gate.states = {.heads = {evaluation::readStates(path)}, .files = {path}, .after = 1};
  make();
  session_->open(gate);
  ASSERT_TRUE(shows("closed"));
  teach(0, 9);
  ASSERT_TRUE(shows("open"));
  EXPECT_TRUE(reported("the states of gate are new"));
  writeFileAtomically(path, "{\"name\": ");
  ASSERT_TRUE(eventually([&] { return reported("the states before go on"); }));
  teach(0, 9);  // as before: nothing is new
  const auto news = std::ranges::count_if(
      events_.all(), [](const Event& event) { return event.message.find("are new") != std::string::npos; });
  EXPECT_EQ(news, 1);
  {
    const StoreReader reader = stored();
    ASSERT_THAT(reader.series(1), SizeIs(2));
    EXPECT_EQ(reader.series(1)[0].model_digest, reader.series(1)[1].model_digest);
    EXPECT_EQ(reader.states(reader.series(1)[0].id, 0, kNoon * 2).at(0).samples.count("open"), 0u);
    EXPECT_EQ(reader.states(reader.series(1)[1].id, 0, kNoon * 2).at(0).samples.count("closed"), 0u);
  }
  const auto series = [&] { return stored().series(1).size(); };
  const auto watchOnce = [&](const StateOptions& states) {
    const std::size_t before = samples_.size();
    gate.states = states;
    make();
    session_->open(gate);
    EXPECT_TRUE(eventually([&] { return samples_.size() >= before + 2; }));
  };
  watchOnce({.heads = {evaluation::readStates(path)}});
  EXPECT_EQ(series(), 2u) << "the same head goes on";
  watchOnce({});
  EXPECT_EQ(series(), 2u) << "what reads no states is measured alike";
  head.name = "roof";
  watchOnce({.heads = {head}});
  EXPECT_EQ(series(), 2u) << "a head of another name is no other one";
  head.name = "gate";
  head.weights *= 2;
  watchOnce({.heads = {head}});
  EXPECT_EQ(series(), 3u) << "also one that was replaced while nothing ran";
  head.weights /= 2;
  watchOnce({.heads = {head}});
  EXPECT_EQ(series(), 3u) << "one that is taught back goes on with the series of then";
  EXPECT_EQ(stored().series(1).back().number, 2);
  head.weights *= -1;
  watchOnce({.heads = {head}});
  EXPECT_EQ(series(), 4u);
  head.sure = 0.9;
  watchOnce({.heads = {head}, .after = 1});
  ASSERT_NE(samples_.all().back().states.at(0).counted, "");
  head.weights *= 0;  // never sure
  watchOnce({.heads = {head}, .after = 1});
  EXPECT_EQ(samples_.all().back().states.at(0).counted, "") << "it counts on from no other head";
}

TEST_F(SessionTest, OfAFolderEveryFrameIsASampleAtItsPace) {
  make();
  CameraPlan folder = watch(always([](int call) { return call < 20 ? frame(call) : std::nullopt; }), "folder");
  folder.every_s = 60;
  folder.every_frame = folder.samples_only = true;
  folder.max_fps = 200;
  const std::int64_t begin = steadyNow();
  session_->setPaused(true);
  session_->open(folder);
  ASSERT_TRUE(eventually([&] { return session_->status().source.frames_in > 0; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_FALSE(session_->framesCome());
  session_->setPaused(false);
  ASSERT_TRUE(eventually([&] { return session_->status().finished; }));
  EXPECT_GE(steadyNow() - begin, 19 * 5);
  EXPECT_TRUE(session_->finish(60));
  EXPECT_THAT(samples_.all(), SizeIs(20));
  EXPECT_EQ(session_->status().source.dropped, 0);
  EXPECT_EQ(stored().count(1), 20);
}

TEST_F(SessionTest, AVideoAtItsEndIsNotAwaitedWhileItStaysOpen) {
  make();
  CameraPlan film = watch(always([](int call) { return call < 5 ? frame(call) : std::nullopt; }), "film.mp4");
  film.every_frame = true;
  session_->open(film);
  ASSERT_TRUE(eventually([&] { return session_->status().finished; }));
  const auto running = [&] { return StoreReader(database_).running(1); };
  ASSERT_TRUE(eventually([&] { return fs::exists(database_) && StoreReader(database_).count(1) == 5 && running(); }));
  session_->tick();
  EXPECT_TRUE(eventually([&] { return !running(); }));
  EXPECT_EQ(StoreReader(database_).awaited(1, kNoon + kHourMs), std::nullopt);
  session_->addEvent({kNoon, EventKind::kSource, Severity::kInfo, "seen at its end"});
  session_->tick();
  const StoreReader reader = stored();
  EXPECT_EQ(reader.count(1), 5);
  EXPECT_THAT(reader.sessions(1), SizeIs(1));
  EXPECT_THAT(messagesOf(allEvents(reader)), Contains("seen at its end"));
}

class ArchiveOfPictures : public SessionTest {
 protected:
  void SetUp() override {
    fs::create_directory(folder_ / "pictures");
    for (int i = 0; i < 3; ++i)
      cv::imwrite(folder_ / ("pictures/20130708_05541" + std::to_string(i) + ".png"), frame(i)->image);
  }
  CameraPlan archive() const {
    CameraPlan watch{.source = vision::parseSourceSpec(folder_ / "pictures"), .every_s = 0, .every_frame = true};
    watch.archive = vision::ArchiveOptions{.times = {.time_zone = vision::CameraClock()}, .show_last = true};
    return watch;
  }
};

// The event comes while the result of the first picture is on its way: it is then of another net than the wanted one.
TEST_F(ArchiveOfPictures, AChangeOfTheNetLosesNone) {
  session_ = std::make_unique<Session>(
      options(),
      Session::Callbacks{.on_sample = [this](const Sample& one, const InferenceResult&) { samples_.add(one); },
                         .on_event =
                             [this](const Event& event) {
                               if (event.message.starts_with("no comparison"))
                                 session_->worker().setReduction(mpmBefore({2}));
                             }});
  session_->worker().setCompare(mpmBefore({1, 99}));  // the model has no such block
  session_->open(archive());
  ASSERT_TRUE(eventually([&] { return session_->status().finished; }));
  ASSERT_THAT(samples_.all(), SizeIs(3));
  EXPECT_EQ(samples_.all()[0].picture, "20130708_055410.png");
  EXPECT_THAT(samples_.all()[0].token_counts, SizeIs(2)) << "of the net that was asked for";
  EXPECT_EQ(session_->status().inference.stale, 0);
}

TEST_F(ArchiveOfPictures, ItIsKnownHowManyAreStored) {
  std::ofstream(folder_ / "pictures/20130708_055400.png") << "no picture";
  for (int start = 0; start < 2; ++start) {
    make();
    EXPECT_EQ(session_->status().pictures, 0) << "no source is open";
    session_->open(archive());
    ASSERT_TRUE(eventually([&] { return session_->status().finished; }));
    EXPECT_EQ(session_->status().pictures, 4);
    EXPECT_EQ(session_->status().stored, 3);
    EXPECT_THAT(samples_.all(), SizeIs(3)) << "each picture once";
  }
  fs::remove(folder_ / "pictures/20130708_055400.png");
  make();
  session_->open(archive());
  ASSERT_TRUE(eventually([&] { return session_->status().finished; }));
  EXPECT_EQ(frames_.all().size(), 3 + 1u + 1u) << "the last one comes again: there is one to look at";
  EXPECT_EQ(session_->status().pictures, 3);
  EXPECT_EQ(session_->status().stored, 3);
  EXPECT_THAT(samples_.all(), SizeIs(3));
  EXPECT_THAT(stored().sessions(1), SizeIs(1)) << "nothing was measured";
}

TEST_F(SessionTest, OfACameraOnlySamplesAreSegmented) {
  make();
  CameraPlan slow = watch();
  slow.every_s = 0.1;
  slow.every_frame = slow.samples_only = true;  // the first is for files
  session_->open(slow);
  ASSERT_TRUE(eventually([&] { return samples_.size() >= 5 && session_->status().source.dropped > 20; }));
  const std::size_t segmented = frames_.size();
  EXPECT_LE(segmented, samples_.size() + 1) << "one may be in hand";
}

TEST_F(SessionTest, RulesChangeWhileItRuns) {
  make();
  CameraPlan ringing = watch();
  ringing.alarms = {.alarms = {parseAlarm("tokens>1")}, .minutes = 0};
  session_->open(ringing);
  ASSERT_TRUE(eventually([&] { return reported("above 1"); }));
  CameraPlan rules;
  session_->setRules(rules);
  EXPECT_TRUE(reported("no longer watched for"));
  rules.night = NightBySun{.latitude = 48, .longitude = 11};
  session_->setRules(rules);
  ASSERT_TRUE(eventually([&] { return samples_.size() > 0 && samples_.all().back().night.has_value(); }));
  session_->tick();
  clock_ -= kHourMs;
  session_->tick();
  EXPECT_THAT(messagesOf(allEvents(stored())), Contains("the clock went back by 60 min"));
}

TEST_F(SessionTest, AnotherDatabaseHasTheAlarmsThatRing) {
  make();
  CameraPlan rings = watch();
  rings.alarms = {.alarms = {parseAlarm("tokens>0")}, .minutes = 0};
  session_->open(rings);
  ASSERT_TRUE(eventually([&] { return reported(" above 0 "); }));
  fs::remove(database_);
  ASSERT_TRUE(eventually([&] { return session_->status().store->stopped; }));
  session_->storeIn(folder_ / "b.db");
  EXPECT_TRUE(session_->finish(60));
  EXPECT_THAT(StoreReader(folder_ / "b.db").alarms(1), SizeIs(1));
}

TEST_F(SessionTest, WithoutADatabaseItOnlyShows) {
  database_.clear();
  make();
  EXPECT_EQ(session_->status().store, std::nullopt);
  session_->open(watch());
  ASSERT_TRUE(eventually([&] { return samples_.size() >= 3; }));
  EXPECT_TRUE(session_->finish(60));
  EXPECT_TRUE(folder_.isEmpty());
}

TEST_F(SessionTest, AFrameIsSeenAgainAfterAChangeAndIsNoSample) {
  make();
  const auto gate = std::make_shared<Gate>();
  session_->open(watch(always([gate](int call) {
    if (call == 5) gate->wait();
    return frame(call);
  })));
  ASSERT_TRUE(eventually([&] {
    const CaptureStatus now = session_->status().source;
    return now.frames_in == 5 && static_cast<std::int64_t>(frames_.size()) == now.frames_in - now.dropped;
  }));
  session_->setPaused(true);
  const auto last = session_->lastFrame();
  ASSERT_TRUE(last && session_->owns(*last));
  const std::size_t frames = frames_.size(), samples = samples_.size();
  session_->worker().setReduction(mpmBefore({1}));
  session_->worker().repeat(*last);
  ASSERT_TRUE(eventually([&] { return frames_.size() == frames + 1; }));
  EXPECT_EQ(samples_.size(), samples);
  gate->open();
  session_->close();
  EXPECT_FALSE(session_->owns(*last));
}

// Also in a frame that no model has seen, from the moment the rules change.
TEST_F(SessionTest, WhatIsHiddenIsHiddenAtOnceAndFollowsTheView) {
  SessionOptions by_minutes = options();  // a view is judged twice a minute at most
  by_minutes.now = [this] { return clock_ += kMinuteMs; };
  cv::Mat scene;
  cv::GaussianBlur(mpm::test::noisePicture(200, 300, 5), scene, {}, 3);
  const auto moved = std::make_shared<std::atomic<bool>>(false);
  const auto black = [](const cv::Mat& image, int x) { return cv::countNonZero(image.col(x).reshape(1)) == 0; };
  std::atomic<int> pictures = 0;
  std::atomic<bool> followed = false;
  Session session(by_minutes, {.on_frame = [&](const InferenceResult& result, const Sample&) {
                    ++pictures;
                    if (black(result.frame.image, 84)) followed = true;
                  }});
  session.open(watch(always([scene, moved](int call) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const cv::Mat view = scene(cv::Rect(*moved ? 25 : 30, 20, 240, 160)).clone();
    return std::optional(vision::Frame{.image = view, .name = "x", .source = "camera", .index = call});
  })));
  ASSERT_TRUE(eventually([&] { return pictures > 20; }));
  const CapturedFrame unseen = *session.lastFrame();
  EXPECT_FALSE(black(session.shown(unseen).image, 40));
  const std::string source = session.source();
  CameraPlan rules;
  rules.privacy.hidden = {{.name = "left", .size = {240, 160}, .polygons = {{{0, 0}, {80, 0}, {80, 159}, {0, 159}}}}};
  session.setRules(rules);
  EXPECT_TRUE(eventually([&] { return StoreReader(database_).privacy(source) == rules.privacy.over({}).json(); }));
  EXPECT_TRUE(black(session.shown(unseen).image, 40));
  EXPECT_FALSE(black(session.shown(unseen).image, 84));
  EXPECT_FALSE(followed);
  const int before = pictures;
  ASSERT_TRUE(eventually([&] { return pictures > before + 20; })) << "the view is learned anew";
  *moved = true;
  EXPECT_TRUE(eventually([&] { return followed.load(); }));
}

// A view that an earlier watch learned, of which less was hidden, does not count any more.
TEST_F(SessionTest, APrivacyThatChangedBetweenTwoRunsForgetsTheView) {
  const std::string source = watch().source.name();
  {
    StoreWriter writer(database_);
    writer.beginSession(session(source));
    writer.append(sampleAt(kNoon - kDayMs), ViewReference{.size = {96, 48},
                                                          .pictures = 48,
                                                          .learned = kNoon - kDayMs,
                                                          .motion = {.right = 2},
                                                          .edges = cv::Mat(160, 320, CV_16SC2, cv::Scalar(7, 9))});
  }
  make();
  CameraPlan hiding = watch();
  hiding.privacy.blurred = {{"class_1"}};
  session_->open(hiding);
  ASSERT_TRUE(eventually([&] { return samples_.size() > 3; }));
  EXPECT_EQ(samples_.all().front().view_offset.right, 2) << "regions stay where they are";
  const StoreReader reader = stored();
  EXPECT_EQ(reader.privacy(source), hiding.privacy.over({}).json());
  const auto view = reader.view(source);
  ASSERT_TRUE(view);
  EXPECT_LE(view->pictures, 1);
  EXPECT_EQ(view->motion.right, 2);
}

// To forget an option, or to leave it out, shows nothing that was hidden.
TEST_F(SessionTest, ASourceKeepsItsPrivacyUntilAPersonSaysOtherwise) {
  const PrivacyChoice hides{
      .hidden = {{{.name = "left", .size = {96, 48}, .polygons = {{{0, 0}, {40, 0}, {40, 47}, {0, 47}}}}}},
      .blurred = {{"class_1"}}};
  const PrivacyOptions all = hides.over({});
  const std::vector<std::pair<PrivacyChoice, PrivacyOptions>> runs = {
      {hides, all},
      {{}, all},
      {{.hidden = {std::vector<vision::Region>()}, .blurred = {}}, {.blurred = all.blurred}},
      {{}, {.blurred = all.blurred}},
      {{.hidden = hides.hidden, .blurred = {std::vector<std::string>()}}, hidesOnly(all)},
      {{}, hidesOnly(all)},
      {{.hidden = {std::vector<vision::Region>()}, .blurred = {}}, {}},
      {{}, {}}};
  for (const auto& [said, expected] : runs) {
    make();
    CameraPlan options = watch();
    options.privacy = said;
    session_->open(options);
    const std::size_t before = samples_.size();
    ASSERT_TRUE(eventually([&] { return samples_.size() > before; }));
    ASSERT_TRUE(session_->privacy());
    EXPECT_EQ(session_->privacy()->json(), expected.json());
    const cv::Mat shown = session_->shown(*session_->lastFrame()).image;
    EXPECT_EQ(cv::countNonZero(shown.colRange(0, 40).reshape(1)) == 0, !expected.hidden.empty());
    session_->setRules(watch());
    EXPECT_EQ(session_->privacy()->json(), expected.json()) << "a rule that says nothing about it";
    EXPECT_EQ(stored().privacy("rtsp://***@yard/1"), expected.json());
  }
  EXPECT_TRUE(reported("pictures hide left and blur class_1, as stored with the source"));
}

TEST_F(SessionTest, APrivacyThatIsSaidInPartForTheFirstTimeIsNotCalledStored) {
  for (const auto& [blurred, expected] :
       {std::pair(std::optional(std::vector<std::string>{"class_1"}), false), {std::nullopt, true}}) {
    make();
    CameraPlan options = watch();
    options.privacy.blurred = blurred;
    session_->open(options);
    const std::size_t before = samples_.size();
    ASSERT_TRUE(eventually([&] { return samples_.size() > before; }));
    EXPECT_TRUE(reported("pictures blur class_1"));
    EXPECT_EQ(reported("as stored with the source"), expected);
  }
}

// What is left out of an archive was measured by the model that is wanted, not by the one that still runs.
TEST_F(SessionTest, AnArchiveThatIsOpenedBehindAChangeOfTheModelIsMeasuredByTheNewOne) {
  const CameraPlan archive = archiveOf({"20260601_120000.png", "20260601_130000.png"});
  make();
  const auto measured = [&](std::size_t samples) {
    return eventually([&] {
      const SessionStatus now = session_->status();
      return now.finished && samples_.size() == samples && now.store->pending == 0;
    });
  };
  session_->open(archive);
  ASSERT_TRUE(measured(2));
  session_->open(archive);
  ASSERT_TRUE(measured(2)) << "they are stored";
  session_->worker().setReduction(mpmBefore({1}));
  session_->open(archive);
  ASSERT_TRUE(measured(4)) << session_->status().stored;
  session_->worker().setReduction(mpmBefore({1, 2}));
  session_->open(archive);
  ASSERT_TRUE(measured(4)) << "those of the first reduction are stored, too";
  const StoreReader reader = stored();
  EXPECT_THAT(reader.series(reader.sources().at(0).id), SizeIs(2));
}

// A database that cannot be read may hide anything.
TEST_F(SessionTest, WhereTheStoredPrivacyIsNotKnownAllIsBlurred) {
  std::ofstream(database_) << "no database";
  SessionOptions later = options();
  later.store.open_at_once = false;
  make(later);
  session_->open(watch());
  ASSERT_TRUE(eventually([&] { return reported("whole pictures are blurred"); }));
  EXPECT_FALSE(session_->privacy());
  ASSERT_TRUE(eventually([&] { return session_->lastFrame().has_value(); }));
  const CapturedFrame raw = *session_->lastFrame();
  EXPECT_LT(cv::mean(cv::abs(session_->shown(raw).image.col(10) - session_->shown(raw).image.col(11)))[0],
            cv::mean(cv::abs(raw.image.col(10) - raw.image.col(11)))[0] / 4);
  CameraPlan said = watch();
  said.privacy = {.hidden = {std::vector<vision::Region>()}, .blurred = {std::vector<std::string>()}};
  session_->open(said);
  ASSERT_TRUE(session_->privacy()) << "all is said";
  EXPECT_FALSE(session_->privacy()->on());
}

// What no program of ours wrote, which neither the reader of privacy nor the writer looks at.
constexpr const char* kNoTime = "DELETE FROM sample; UPDATE bucket SET start_ms = -9223372036854775807";

TEST_F(SessionTest, WhatIsStoredOfASourceAndCannotBeReadIsOneMessage) {
  record(database_, {sampleAt(kNoon)}, session("rtsp://***@yard/1"));
  runSql(database_, kNoTime);
  make();
  session_->open(watch());
  ASSERT_TRUE(eventually([&] { return samples_.size() > 0; })) << "a camera goes on";
  EXPECT_TRUE(reported("regions, view and states begin anew, because what is stored of them cannot be read: "));
  EXPECT_TRUE(reported("a sample has the time -9223372036854775807 ms"));
  EXPECT_EQ(std::ranges::count_if(
                events_.all(),
                [](const Event& event) { return event.message.find("a sample has the time") != std::string::npos; }),
            1);
}

TEST_F(SessionTest, AnArchiveIsNotMeasuredWhereWhatIsStoredOfItCannotBeRead) {
  const CameraPlan archive = archiveOf({"20260601_120000.png"});
  record(database_, {sampleAt(kNoon)}, session(archive.source.name(), 0));
  runSql(database_, kNoTime);
  make();
  session_->open(archive);
  ASSERT_TRUE(eventually([&] { return reported("what is stored of the source cannot be read: "); }));
  EXPECT_EQ(samples_.size(), 0u);
}

// As in the app, which plays a video or a folder without a word about its times.
TEST_F(SessionTest, AnArchiveIsNotReadWithoutItsTimes) {
  CameraPlan folder = archiveOf({"20260601_120000.png"});
  make();
  session_->open(folder);
  ASSERT_TRUE(eventually([&] { return samples_.size() == 1; }));
  make();  // stores it
  folder.archive.reset();
  session_->open(folder);
  ASSERT_TRUE(eventually([&] { return session_->status().source.state == CaptureState::kEnded; }));
  EXPECT_THAT(session_->status().source.message, HasSubstr("what is stored of the pictures has times of their own"));
  session_.reset();
  EXPECT_EQ(StoreReader(database_).sources().front().last, kNoon);
  record(database_, {sampleAt(kNoon + kDayMs)}, session(folder.source.name()));
  EXPECT_TRUE(StoreReader(database_).sources().front().archive) << "whatever comes into it";
}

TEST_F(SessionTest, TheDayBeforeIsSummedUpOnceADay) {
  const mpm::test::LocalZone zone("America/New_York");  // four hours behind UTC
  SessionInfo before_that = session("rtsp://***@yard/1");
  before_that.model_digest = "00000000000000b2";
  record(database_, {sampleAt(kNoon - kDayMs - 2 * kHourMs), sampleAt(kNoon - kDayMs - kHourMs)}, before_that);
  record(database_, {sampleAt(kNoon - kDayMs)}, session("rtsp://***@yard/1"));
  SessionOptions telling = options();
  telling.on_event = {"sh", "-c", "echo \"$MPM_EVENT_KIND\" >> " + (folder_ / "log")};
  telling.store.commit_s = 1e6;  // the last flush alone stores samples, as in `mpm monitor --once`
  CameraPlan seven = watch();
  seven.summary_hour = 7;
  for (const UnixMs time : {kNoon - 6 * kHourMs, kNoon, kNoon + kHourMs}) {
    clock_ = time;
    make(telling);
    session_->open(seven);
    const std::size_t before = samples_.size();
    ASSERT_TRUE(eventually([&] { return samples_.size() > before; }));
    EXPECT_TRUE(session_->finish(60));
  }
  const auto summaries = [](const std::vector<Event>& events) {
    return std::ranges::count(events, EventKind::kSummary, &Event::kind);
  };
  EXPECT_EQ(summaries(events_.all()), 1);
  EXPECT_EQ(summaries(allEvents(stored())), 1);
  EXPECT_THAT(messagesOf(allEvents(stored())), Contains(HasSubstr("2026-05-31 (America/New_York): 1 sample, ")))
      << "of the latest series, whose means are told";
  const std::string ran = readFile(folder_ / "log");
  EXPECT_EQ(ran.find("summary"), ran.rfind("summary")) << ran;
  EXPECT_THAT(ran, HasSubstr("summary"));
}

// Days that are not over were told with no samples, and not once more when they were.
TEST_F(SessionTest, AClockThatIsAheadForAMomentSumsUpNoDays) {
  record(database_, {sampleAt(kNoon - kDayMs)}, session("rtsp://***@yard/1"));
  clock_ = kNoon;
  make();
  CameraPlan midnight = watch();
  midnight.summary_hour = 0;
  session_->open(midnight);
  ASSERT_TRUE(eventually([&] { return reported(": 1 sample, "); }));
  clock_ = kNoon + 3 * kDayMs;
  session_->addEvent(eventAt(clock_, "it is Thursday"));
  ASSERT_TRUE(eventually([&] { return StoreReader(database_).events(1, kNoon + 2 * kDayMs, INT64_MAX).size() > 0; }));
  const std::size_t before = samples_.size();
  ASSERT_TRUE(eventually([&] { return samples_.size() > before + 5; }));
  EXPECT_TRUE(session_->finish(60));
  EXPECT_EQ(std::ranges::count(events_.all(), EventKind::kSummary, &Event::kind), 1);
}

TEST_F(SessionTest, ADayThatCannotBeSummedUpIsOneMessage) {
  // With one sample alone the writer may ask before the first of today is stored, and read that one, not the sum.
  record(database_, {sampleAt(kNoon - kDayMs), sampleAt(kNoon - 22 * kHourMs)}, session("rtsp://***@yard/1"));
  runSql(database_, "UPDATE bucket SET samples = -1 WHERE start_ms < " + std::to_string(kNoon - kHourMs));
  make();
  CameraPlan seven = watch();
  seven.summary_hour = 7;
  session_->open(seven);
  const auto messages = [&] {
    return std::ranges::count_if(events_.all(), [](const Event& event) {
      return event.message.starts_with("the day before is not summed up: ") &&
             event.message.ends_with("a sum is of -1 samples");
    });
  };
  ASSERT_TRUE(eventually([&] { return messages() > 0; }));
  const std::size_t before = samples_.size();
  ASSERT_TRUE(eventually([&] { return samples_.size() > before + 3; }));
  EXPECT_TRUE(session_->finish(60));
  EXPECT_EQ(messages(), 1);
}

TEST_F(SessionTest, WhatHappenedBeforeTheFirstSourceIsStoredWithIt) {
  make();
  session_->addEvent(eventAt(clock_, "a broker does not answer"));
  session_->open(watch());
  ASSERT_TRUE(eventually([&] { return samples_.size() > 0; }));
  EXPECT_TRUE(session_->finish(60));
  const std::vector<Event> events = StoreReader(database_).events(1, 0, INT64_MAX);
  EXPECT_THAT(messagesOf(events), Contains("a broker does not answer"));
}

SourceFactory noCamera() {
  return [](const vision::SourceOptions&) -> std::unique_ptr<vision::FrameSource> { throw Error("no route"); };
}

// There is no sample that its alarm could be stored with.
TEST_F(SessionTest, ACameraThatNeverGaveAFrameRingsOnce) {
  CameraPlan plan = watch(noCamera());
  plan.alarms.alarms = {parseAlarm("no-frame>0.05")};
  const auto run = [&](const std::function<bool()>& over) {
    make();
    session_->open(plan);
    ASSERT_TRUE(eventually([&] {
      session_->tick();
      return over();
    }));
    session_.reset();
  };
  run([&] { return reported("no frame for 0.05 s"); });
  run([&] { return session_->status().source.attempt >= 2; });  // long after it would ring again
  EXPECT_EQ(StoreReader(database_).alarms(1).size(), 1u);
  plan.factory = always(frame);
  run([&] { return reported("frames come again"); });
  const auto messages = messagesOf(StoreReader(database_).events(1, 0, INT64_MAX));
  EXPECT_EQ(std::ranges::count(messages, "no frame for 0.05 s"), 1);
  EXPECT_THAT(messages, Contains(HasSubstr("no route"))) << "also what came before the alarm";
}

TEST_F(SessionTest, ACameraOpensUntilItsFirstFrameOrFailure) {
  const auto gate = std::make_shared<Gate>();
  const auto hangs = [gate](int call) {
    gate->wait();
    return frame(call);
  };
  make();
  EXPECT_TRUE(session_->status().opening());
  session_->open(watch(always(hangs)));
  ASSERT_TRUE(eventually([&] { return session_->status().source.state == CaptureState::kOpening; }));
  EXPECT_STREQ(session_->status().word(), "opening");
  gate->open();
  EXPECT_TRUE(eventually([&] { return !session_->status().opening(); }));
  EXPECT_STREQ(session_->status().word(), "online");
  session_->open(watch(noCamera()));
  EXPECT_TRUE(eventually([&] { return !session_->status().opening(); }));
  EXPECT_STREQ(session_->status().word(), "lost");
  CameraPlan folder = archiveOf({"a.png"});
  folder.factory = noCamera();
  session_->open(folder);
  EXPECT_FALSE(session_->status().opening()) << "a folder may wait for its next picture for days";
}

TEST_F(SessionTest, ASummaryWaitsForTheFirstPicture) {
  record(database_, {sampleAt(kNoon - kDayMs)}, session("rtsp://***@yard/1"));
  make();
  const auto gate = std::make_shared<Gate>();
  CameraPlan dark = watch(always([gate](int call) {
    gate->wait();
    return frame(call);
  }));
  dark.summary_hour = 0;
  session_->open(dark);
  for (const std::string message : {"one commit", "the next one"}) {
    session_->addEvent(eventAt(clock_, message));
    ASSERT_TRUE(eventually([&] {
      const auto stored = messagesOf(allEvents(StoreReader(database_)));
      return std::ranges::find(stored, message) != stored.end();
    }));
  }
  EXPECT_FALSE(reported(": 1 sample, "));
  gate->open();
  EXPECT_TRUE(eventually([&] { return reported(": 1 sample, "); }));
}

TEST_F(SessionTest, EventsOfThePastRunNoCommand) {
  const std::string log = folder_ / "log";
  SessionOptions telling = options();
  telling.on_event = {"sh", "-c", "echo \"$MPM_EVENT_MESSAGE\" >> " + log};
  make(telling);
  session_->open(watch());
  ASSERT_TRUE(eventually([&] { return samples_.size() >= 3; }));
  session_->addEvent({clock_, EventKind::kAlarm, Severity::kWarning, "too many cars"});
  session_->addEvent({clock_ - 2 * kHourMs, EventKind::kAlarm, Severity::kWarning, "in a picture of the past"});
  EXPECT_TRUE(session_->finish(60));
  EXPECT_THAT(readFile(log), AllOf(HasSubstr("too many cars\n"), Not(HasSubstr("in a picture of the past"))));
  EXPECT_THAT(messagesOf(allEvents(stored())), Contains("in a picture of the past"));
}

}  // namespace
}  // namespace mpm::monitor::test
