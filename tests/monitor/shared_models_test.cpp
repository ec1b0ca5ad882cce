// SPDX-License-Identifier: Apache-2.0
#include "monitor/capture/shared_models.h"

#include "monitor/capture/inference.h"
#include "monitor/models.h"
#include "monitor/wait.h"
#include "mpm/error.hpp"
#include "support/gate.h"
#include "support/matchers.h"

namespace mpm::monitor::test {
namespace {

using mpm::test::Gate;

EstimatorOptions options(const char* reuse = "off") {
  EstimatorOptions options;
  options.read.convert.reduce = mpmBefore({1, 2});
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
