// SPDX-License-Identifier: Apache-2.0
// Cameras with sources that the test holds in its hands, and the models that they share.
#include "monitor/fleet.h"
#include "monitor/capture/inference.h"
#include "monitor/fake_source.h"
#include "monitor/samples.h"
#include "monitor/wait.h"
#include "mpm/error.hpp"
#include "support/gate.h"

namespace mpm::monitor::test {
namespace {

using mpm::test::Gate;

std::optional<vision::Frame> noiseFrame(int call, int every_ms = 2) {
  std::this_thread::sleep_for(std::chrono::milliseconds(every_ms));
  return vision::Frame{
      .image = cv::Mat(48, 96, CV_8UC3, cv::Scalar::all(call % 200)), .name = "x", .source = "camera", .index = call};
}

class FleetTest : public InFolder {
 protected:
  void TearDown() override { gate_.open(); }
  Collected<std::pair<std::string, std::string>> events_;  // camera, message
  std::map<std::string, std::atomic<int>> samples_, opened_;
  std::atomic<bool> loses_ = false;  // samples of "loses" are not taken
  std::atomic<bool> held_ = false;   // "leaves" stands at the gate with a sample, and cannot end
  Gate gate_;
  std::unique_ptr<Fleet> fleet_ =
      std::make_unique<Fleet>(Fleet::Callbacks{.on_event =
                                                   [this](const Camera& camera, const Event& event) {
                                                     events_.add({camera.name, event.message});
                                                   },
                                               .on_sample =
                                                   [this](const Camera& camera, const Sample&, const InferenceResult&) {
                                                     ++samples_.at(camera.name);
                                                     if (loses_ && camera.name == "loses")
                                                       throw std::runtime_error("no such disk");
                                                     if (held_ && camera.name == "leaves") gate_.wait();
                                                   }});

  Camera camera(
      const std::string& name,
      std::function<std::optional<vision::Frame>(int)> next = [](int call) { return noiseFrame(call); }) {
    samples_[name], opened_[name];
    Camera camera{
        .name = name, .said = {.name = name}, .session = {.model = kModel, .database = folder_ / (name + ".db")}};
    camera.session.inference.reduce = mpmBefore({1, 2});
    camera.session.inference.threads = 1;
    camera.session.store.commit_s = 0.01;
    camera.plan = {.source = vision::parseSourceSpec("rtsp://" + name + "/1"),
                   .every_s = 0,
                   .timeout_s = 60,  // a busy machine is no outage
                   .factory = [&opened = opened_.at(name), next](const vision::SourceOptions&) {
                     ++opened;
                     return std::make_unique<FakeSource>(next);
                   }};
    return camera;
  }
  std::vector<Camera> cameras(std::initializer_list<const char*> names) {
    std::vector<Camera> all;
    for (const char* name : names) all.push_back(camera(name));
    return all;
  }
  CameraStatus status(const std::string& name) const {
    for (CameraStatus& one : fleet_->status())
      if (one.name == name) return std::move(one);
    return {};
  }
  bool gives(const std::string& name, int more = 5) {
    const int before = samples_.at(name);
    return eventually([&] { return samples_.at(name) >= before + more; });
  }
};

// One hangs for ever, one floods, one dies and returns, the model of one is damaged: the others go on.
TEST_F(FleetTest, WhatACameraDoesIsItsOwnAffair) {
  Gate gate;
  Camera broken = camera("broken");
  broken.session.model = "none.onnx";
  std::vector<Camera> all = cameras({"a", "b", "c", "d"});
  all.push_back(camera("hangs", [&](int call) {
    if (call == 3) gate.wait();
    return noiseFrame(call);
  }));
  all.back().plan.timeout_s = 0.3;
  all.push_back(camera("floods", [](int call) { return noiseFrame(call, 0); }));
  all.push_back(camera("dies", [](int call) { return call == 20 ? std::nullopt : noiseFrame(call); }));
  all.push_back(std::move(broken));
  const Fleet::Changes changes = fleet_->set(std::move(all));
  EXPECT_EQ(changes.started, 8);
  ASSERT_TRUE(eventually([&] { return status("hangs").session.source.state == CaptureState::kRetrying; }));
  ASSERT_TRUE(eventually([&] { return status("dies").session.source.reconnects > 0; }));
  ASSERT_TRUE(eventually([&] { return status("broken").over; }));
  for (const char* name : {"floods", "dies", "a", "b", "c", "d"}) EXPECT_TRUE(gives(name)) << name;
  EXPECT_TRUE(status("broken").started) << "nothing waits for it";
  EXPECT_THAT(status("broken").failure, HasSubstr("no such file")) << "the reason";
  EXPECT_THAT(events_.all(), Contains(Pair("broken", HasSubstr("tried again every 30 s"))));
  EXPECT_EQ(status("a").session.source.stalls + status("a").session.source.reconnects, 0);
  EXPECT_EQ(status("a").database, folder_ / "a.db");
  EXPECT_TRUE(status("a").sample);
  EXPECT_FALSE(stuck(fleet_->status()));
  gate.open();
  EXPECT_TRUE(fleet_->finish());
  const int before = samples_.at("a");
  EXPECT_EQ(StoreReader(folder_ / "a.db").count(1), before);
}

TEST_F(FleetTest, ACameraThatComesTooSlowlyIsOneEvent) {
  Camera slow = camera("slow", [](int call) { return noiseFrame(call, 50); });
  slow.plan.every_s = 0.01;
  std::vector<Camera> one;
  one.push_back(std::move(slow));
  fleet_->set(std::move(one));
  EXPECT_TRUE(eventually([&] {
    return std::ranges::any_of(events_.all(), [](const auto& event) {
      return event.second.find("a sample comes in ") == 0 && event.second.ends_with(": raise 'every'");
    });
  }));
  ASSERT_TRUE(fleet_->finish());
  std::vector<Event> stored = StoreReader(folder_ / "slow.db").events(1, 0, unixNow() + 1, 99);
  std::erase_if(stored, [](const Event& event) { return !event.message.starts_with("a sample comes in "); });
  ASSERT_THAT(stored, testing::SizeIs(1));
  EXPECT_EQ(stored[0].severity, Severity::kWarning);
}

TEST_F(FleetTest, OnlyWhatChangedIsRestarted) {
  Camera heir = camera("heir");  // its counters join the others before threads look them up
  fleet_->set(cameras({"stays", "changes", "reads", "leaves"}));
  for (const char* name : {"stays", "changes", "reads", "leaves"}) ASSERT_TRUE(gives(name));
  Camera changed = camera("changes"), reads = camera("reads");
  changed.said.every = 1;
  reads.files = "regions.json, which says something else";
  heir.session.database = folder_ / "leaves.db";  // which must be closed before
  held_ = true;
  const int before = samples_.at("leaves");
  ASSERT_TRUE(eventually([&] { return samples_.at("leaves") > before; }));
  const auto [started, restarted, ended, unchanged] =
      fleet_->set({std::move(changed), camera("stays"), std::move(heir), std::move(reads)});
  EXPECT_EQ((std::vector{started, restarted, ended, unchanged}), (std::vector{1, 2, 1, 1}));
  EXPECT_EQ(fleet_->status().at(1).name, "stays") << "in the order of the file";
  ASSERT_TRUE(eventually([&] { return opened_.at("changes") == 2 && opened_.at("reads") == 2; }));
  gate_.open();
  for (const char* name : {"stays", "heir", "changes"}) EXPECT_TRUE(gives(name));
  EXPECT_EQ(opened_.at("stays"), 1);
  EXPECT_EQ(status("leaves").name, "");
  EXPECT_THAT(events_.all(), Not(Contains(Pair("heir", HasSubstr("not watched")))));
  fleet_.reset();
  EXPECT_EQ(StoreReader(folder_ / "stays.db").sessions(1).size(), 1u) << "without a gap";
  EXPECT_EQ(StoreReader(folder_ / "changes.db").sessions(1).size(), 2u);
}

// What the old one says at its end must not come after what the new one says at its beginning.
TEST_F(FleetTest, OneWithAnotherDatabaseWaitsForTheOldOneOfItsName) {
  fleet_->set(cameras({"leaves"}));
  ASSERT_TRUE(gives("leaves"));
  held_ = true;
  const int before = samples_.at("leaves");
  ASSERT_TRUE(eventually([&] { return samples_.at("leaves") > before; }));
  Camera moved = camera("leaves");
  moved.said.db = moved.session.database = folder_ / "other.db";
  fleet_->set({std::move(moved)});
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(opened_.at("leaves"), 1);
  held_ = false;
  gate_.open();
  EXPECT_TRUE(gives("leaves"));
  EXPECT_EQ(opened_.at("leaves"), 2);
}

// Of what goes on in the same database the alarm rings on.
TEST_F(FleetTest, AnAlarmEndsWhereNobodyLooksAnyMore) {
  const auto ringing = [&](const std::string& name) {
    Camera one = camera(name);
    one.plan.alarms = {.alarms = {parseAlarm("tokens>0")}, .minutes = 0};
    return one;
  };
  const auto count = [&](const std::string& name, const std::string& part) {
    return std::ranges::count_if(events_.all(), [&](const auto& event) {
      return event.first == name && event.second.find(part) != std::string::npos;
    });
  };
  fleet_->set({ringing("stays"), ringing("moves"), ringing("leaves")});
  for (const char* name : {"stays", "moves", "leaves"})
    ASSERT_TRUE(eventually([&] { return count(name, " above 0 ") == 1; }));
  Camera stays = ringing("stays"), moves = ringing("moves");
  stays.said.every = 1;
  moves.said.db = moves.session.database = folder_ / "other.db";
  fleet_->set({std::move(stays), std::move(moves)});
  for (const char* name : {"moves", "leaves"})
    EXPECT_TRUE(eventually([&] { return count(name, "tokens no longer watched for") == 1; })) << name;
  EXPECT_TRUE(eventually([&] { return count("moves", " above 0 ") == 2; }));
  ASSERT_TRUE(eventually([&] { return opened_.at("stays") == 2; }));
  ASSERT_TRUE(gives("stays"));
  EXPECT_TRUE(fleet_->finish());
  EXPECT_EQ(std::pair(count("stays", " above 0 "), count("stays", "no longer")), std::pair(1L, 0L));
  EXPECT_THAT(StoreReader(folder_ / "leaves.db").alarms(1), testing::IsEmpty());
  EXPECT_THAT(StoreReader(folder_ / "stays.db").alarms(1), testing::SizeIs(1));
}

TEST_F(FleetTest, OneThatFailedIsTriedAtOnceWhenTheFileIsReadAgain) {
  auto other = std::make_unique<StoreWriter>(folder_ / "locked.db");
  fleet_->set(cameras({"locked", "free"}));
  ASSERT_TRUE(eventually([&] { return status("locked").over; }));
  EXPECT_THAT(status("locked").failure, HasSubstr("another program stores in"));
  ASSERT_TRUE(gives("free"));
  other.reset();
  const Fleet::Changes changes = fleet_->set(cameras({"locked", "free"}));
  EXPECT_EQ(changes.restarted, 1);
  EXPECT_EQ(changes.unchanged, 1);
  EXPECT_TRUE(gives("locked"));
}

// The program ends then, and a supervisor decides.
TEST_F(FleetTest, OneThatIsAloneIsNotTriedAgain) {
  std::vector<Camera> alone = cameras({"broken"});
  alone.front().session.model = "none.onnx";
  fleet_->set(std::move(alone));
  ASSERT_TRUE(eventually([&] { return status("broken").over; }));
  EXPECT_TRUE(fleet_->finish());
  EXPECT_TRUE(events_.all().empty()) << "its error is the program's, and is said once";
}

// All goes on, but what is missing is not forgotten at the end.
TEST_F(FleetTest, ALostResultIsAFailureInTheEnd) {
  fleet_->set(cameras({"loses", "stores"}));
  for (const char* name : {"loses", "stores"}) ASSERT_TRUE(gives(name));
  loses_ = true;
  ASSERT_TRUE(eventually([&] { return status("loses").session.inference.lost > 0; }));
  loses_ = false;
  ASSERT_TRUE(gives("loses"));
  EXPECT_EQ(status("loses").failure, "");
  EXPECT_TRUE(fleet_->finish());
  EXPECT_THAT(status("loses").failure, HasSubstr(" not stored: a result was lost: no such disk"));
  EXPECT_EQ(status("stores").failure, "");
}

TEST(Fleet, IsStuckWhenOnlyANewProcessHelps) {
  CameraStatus works, hangs, waits;
  hangs.session.source.hang_s = 600;
  waits.session.inference.busy_s = 120;  // for the thread that all share
  EXPECT_FALSE(stuck({}));
  EXPECT_FALSE(stuck({works, hangs}));
  EXPECT_TRUE(stuck({hangs, hangs}));
  EXPECT_TRUE(stuck({works, waits}));
}

TEST_F(FleetTest, OneSampleOfEach) {
  std::vector<Camera> all;
  all.push_back(camera("gives"));
  all.push_back(camera("dark", [](int) -> std::optional<vision::Frame> { throw Error("no light"); }));
  for (Camera& one : all) one.plan.once = true;
  all[0].plan.every_s = 60;
  fleet_->set(std::move(all));
  ASSERT_TRUE(eventually([&] { return status("gives").over && status("dark").over; }));
  EXPECT_EQ(samples_.at("gives"), 1);
  EXPECT_EQ(status("gives").failure, "");
  EXPECT_EQ(status("dark").failure, "no light");
}

EstimatorOptions options(const char* reuse = "off") {
  EstimatorOptions options;
  options.reduce = mpmBefore({1, 2});
  options.reuse = parseReuse(reuse);
  options.labels = true;
  options.threads = 1;
  return options;
}

// Models whose thread is busy until open().
class Held {
 public:
  explicit Held(SharedModels& models)
      : thread_([&] {
          models.run({}, [this] {
            begun_.open();
            gate_.wait();
          });
        }) {
    begun_.wait();
  }
  ~Held() { open(); }
  void open() { gate_.open(); }

 private:
  Gate begun_, gate_;
  std::jthread thread_;
};

TEST(SharedModels, CamerasOfOneFileAndTheSameOptionsShareItsNet) {
  SharedModels models;
  const auto one = models.open(kModel, "1", options()), two = models.open(kModel, "1", options());
  EXPECT_EQ(&one->model(), &two->model());
  EXPECT_NE(one, two) << "each has its own memory of frames";
  EXPECT_NE(&models.open(kModel, "1", options("auto"))->model(), &one->model());
  EXPECT_NE(&models.open(kModel, "2", options())->model(), &one->model()) << "a file that was replaced";
  EXPECT_THROW(models.open("none.onnx", "1", options()), Error);
}

// A camera that always has a frame, and one that is stopped while it waits.
TEST(SharedModels, EachWaitsBehindThoseThatAskedBefore) {
  SharedModels models;
  Collected<int> order;
  Held held(models);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(eventually([&] { return models.waiting() == static_cast<std::size_t>(i); }));
    threads.emplace_back(
        [&, i](const std::stop_token& stop) { EXPECT_EQ(models.run(stop, [&] { order.add(i); }), i != 2); });
  }
  ASSERT_TRUE(eventually([&] { return models.waiting() == 4; }));
  threads[2].request_stop();
  EXPECT_TRUE(eventually([&] { return models.waiting() == 3; }));
  held.open();
  for (std::jthread& one : threads) one.join();  // its destructor would ask it to stop before its turn
  EXPECT_EQ(order.all(), (std::vector{0, 1, 3}));
  EXPECT_THROW(models.run({}, [] { throw Error("no"); }), Error);
  EXPECT_TRUE(models.run({}, [] {})) << "an error ends nothing";
}

// In each round all cameras but one have a frame, and one has hundreds: each gets one turn, and its latest frame.
TEST(SharedModels, EachCameraGetsItsShareAndItsLatestFrame) {
  constexpr int kCameras = 8, kRounds = 5, kDead = 3, kFlooding = 5;
  const auto models = std::make_shared<SharedModels>();
  std::vector<std::shared_ptr<FrameMailbox>> frames;
  std::vector<std::unique_ptr<InferenceWorker>> workers;
  Collected<std::pair<int, std::int64_t>> results;  // the camera, the frame
  for (int camera = 0; camera < kCameras; ++camera) {
    frames.push_back(std::make_shared<FrameMailbox>());
    workers.push_back(std::make_unique<InferenceWorker>(
        frames.back(), kModel, options("auto"),
        InferenceWorker::Callbacks{.on_result =
                                       [&, camera](const InferenceResult& result) {
                                         results.add({camera, result.frame.id});
                                       },
                                   .on_event = [](const Event& event) { ADD_FAILURE() << event.message; }},
        false, models));
  }
  for (const auto& worker : workers) ASSERT_TRUE(eventually([&] { return worker->status().ready; }));
  const cv::Mat image(48, 96, CV_8UC3, cv::Scalar::all(90));
  for (int round = 1; round <= kRounds; ++round) {
    Held held(*models);
    std::size_t waiting = 0;
    for (int camera = 0; camera < kCameras; ++camera) {
      if (camera == kDead && round == 2) continue;
      frames[camera]->put({.image = image, .id = round, .time = 1000 * round});
      ++waiting;
    }
    ASSERT_TRUE(eventually([&] { return models->waiting() == waiting; }));
    for (int i = 1; i <= 300; ++i)
      frames[kFlooding]->put({.image = image, .id = 1000 * round + i, .time = 1000 * round});
    held.open();
    ASSERT_TRUE(eventually([&] { return results.size() == static_cast<std::size_t>(kCameras * round - (round > 1)); }));
  }
  std::vector<int> turns(kCameras);
  for (const auto& [camera, frame] : results.all()) {
    ++turns[camera];
    EXPECT_TRUE(camera != kFlooding || frame % 1000 == 300) << frame;
  }
  for (int camera = 0; camera < kCameras; ++camera) EXPECT_EQ(turns[camera], camera == kDead ? kRounds - 1 : kRounds);
  EXPECT_EQ(frames[kFlooding]->dropped(), 300 * kRounds);
}

}  // namespace
}  // namespace mpm::monitor::test
