// SPDX-License-Identifier: Apache-2.0
#include "monitor/capture/capture.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <tuple>

#include "monitor/wait.h"
#include "mpm/error.hpp"
#include "support/gate.h"

// Sanitizers have a pthread_create of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MPM_TEST_THREADS_CAN_FAIL
namespace {
std::atomic<bool> no_thread_can_be_made = false;
}

// In place of the C library's, for the whole program.
extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*routine)(void*), void* argument) noexcept {
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  return no_thread_can_be_made ? EAGAIN : real(thread, attributes, routine, argument);
}
#endif

namespace mpm::monitor::test {
namespace {

using mpm::test::Gate;
using ::testing::HasSubstr;

vision::Frame frame(int index) {
  return {.image = cv::Mat(2, 2, CV_8UC3, cv::Scalar::all(index % 256)), .name = "x", .source = "x", .index = index};
}

// A source made of a function that gets the number of the call.
class FakeSource final : public vision::FrameSource {
 public:
  explicit FakeSource(std::function<std::optional<vision::Frame>(int)> next) : next_(std::move(next)) {}
  std::optional<vision::Frame> next() override { return next_(calls_++); }

 private:
  std::function<std::optional<vision::Frame>(int)> next_;
  int calls_ = 0;
};

SourceFactory always(std::function<std::optional<vision::Frame>(int)> next) {
  return [next](const vision::SourceOptions&) { return std::make_unique<FakeSource>(next); };
}

CaptureOptions quick() {
  CaptureOptions options;
  options.source.timeout_s = 0.1;
  options.stall_s = 0.03;
  options.backoff_s = {0.01, 0.02};
  return options;
}

std::optional<vision::Frame> slowly(int call) {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return frame(call);
}

TEST(Capture, GivesTheLatestFrameAndCounts) {
  const auto frames = std::make_shared<FrameMailbox>();
  CaptureOptions options = quick();
  options.stream = 5;
  options.now = [] { return UnixMs{1234}; };
  CaptureThread capture(always(slowly), options, frames);
  EXPECT_EQ(capture.status().state, CaptureState::kIdle);
  EXPECT_EQ(capture.status().frame_age_s, -1);
  capture.start();
  ASSERT_TRUE(eventually([&] { return capture.status().in >= 50; }));
  EXPECT_EQ(capture.status().state, CaptureState::kLive);
  EXPECT_GT(capture.status().fps, 0);
  EXPECT_GE(capture.status().frame_age_s, 0);
  const auto taken = frames->tryTake();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->stream, 5);
  EXPECT_EQ(taken->time, 1234);
  capture.stop();
  const CaptureStatus status = capture.status();
  EXPECT_EQ(status.state, CaptureState::kIdle);
  const bool one_left = frames->tryTake().has_value();
  EXPECT_EQ(status.in, status.dropped + 1 + (one_left ? 1 : 0)) << "every frame was taken, dropped, or waits";
  EXPECT_EQ(capture.last()->id, status.in);
}

TEST(Capture, NoFrameComesAfterStop) {
  for (int i = 0; i < 20; ++i) {
    const auto frames = std::make_shared<FrameMailbox>();
    CaptureThread capture(always(frame), quick(), frames);
    capture.start();
    ASSERT_TRUE(eventually([&] { return capture.status().in > 0; }));
    capture.stop();
    (void)frames->tryTake();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_FALSE(frames->tryTake());
  }
}

TEST(Capture, NothingIsTakenWhileACameraAdapts) {
  const auto frames = std::make_shared<FrameMailbox>();
  CaptureOptions options = quick();
  options.adapt_s = 0.2;
  CaptureThread capture(always(frame), options, frames);
  const std::int64_t start = steadyNow();
  capture.start();
  const auto taken = frames->take(std::chrono::minutes(1));
  ASSERT_TRUE(taken);
  EXPECT_GE(taken->steady - start, 200);
}

TEST(Capture, FilesLoseNoFrameAndEnd) {
  const auto frames = std::make_shared<FrameMailbox>();
  CaptureOptions options = quick();
  options.lossless = true;
  options.reconnect = false;
  CaptureThread capture(always([](int call) { return call < 200 ? std::optional(frame(call)) : std::nullopt; }),
                        options, frames);
  capture.start();
  for (int i = 1; i <= 200; ++i) {
    const auto taken = frames->take(std::chrono::minutes(1));
    ASSERT_TRUE(taken);
    ASSERT_EQ(taken->id, i);
    if (i == 100) std::this_thread::sleep_for(std::chrono::milliseconds(400));  // longer than the time-out
  }
  ASSERT_TRUE(eventually([&] { return capture.status().state == CaptureState::kEnded; }));
  EXPECT_EQ(capture.status().dropped, 0);
  EXPECT_EQ(capture.status().message, "");
}

TEST(Capture, OnlyAnImageKeepsThePathOfItsFile) {
  const auto frames = std::make_shared<FrameMailbox>();
  CaptureOptions options = quick();
  options.lossless = true;
  options.reconnect = false;
  const std::pair<const char*, const char*> named[] = {{"noon.v2", "street/noon.v2.jpg"}, {"clip_000001", "clip.avi"}};
  CaptureThread capture(always([&](int call) {
                          if (call > 1) return std::optional<vision::Frame>();
                          vision::Frame one = frame(call);
                          std::tie(one.name, one.source) = named[call];
                          return std::optional(one);
                        }),
                        options, frames);
  capture.start();
  for (const char* file : {"street/noon.v2.jpg", ""}) {
    const auto taken = frames->take(std::chrono::minutes(1));
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->file, file);
  }
}

TEST(Capture, TellsOfPicturesLeftOutBeforeItEnds) {
  const auto frames = std::make_shared<FrameMailbox>();
  CaptureOptions options = quick();
  options.lossless = true;
  options.reconnect = false;
  std::vector<std::string> reported;  // by one thread
  options.source.on_unreadable = [&](const std::string& why) { reported.push_back(why); };
  const SourceFactory factory = [](const vision::SourceOptions& source) {
    return std::make_unique<FakeSource>([reported = source.on_unreadable](int call) {
      if (call < 3) reported("b" + std::to_string(call));
      return call < 5 ? std::optional(frame(call)) : std::nullopt;
    });
  };
  CaptureThread capture(factory, options, frames, [&](const CaptureStatus& status) {
    if (status.state == CaptureState::kEnded) reported.push_back(status.message);
  });
  capture.start();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(frames->take(std::chrono::minutes(1)));
  ASSERT_TRUE(eventually([&] { return capture.status().state == CaptureState::kEnded; }));
  capture.stop();
  EXPECT_THAT(reported, ::testing::ElementsAre("b0", "b1", "b2", "3 of 8 pictures could not be read"));
}

TEST(Capture, AFileThatCannotBeReadEndsWithTheReason) {
  const auto frames = std::make_shared<FrameMailbox>();
  CaptureOptions options = quick();
  options.reconnect = false;
  CaptureThread capture(
      [](const vision::SourceOptions&) -> std::unique_ptr<vision::FrameSource> { throw Error("there is no file 'x'"); },
      options, frames);
  capture.start();
  ASSERT_TRUE(eventually([&] { return capture.status().state == CaptureState::kEnded; }));
  EXPECT_EQ(capture.status().message, "there is no file 'x'");
}

TEST(Capture, ASourceThatDisappearsComesBack) {
  const auto frames = std::make_shared<FrameMailbox>();
  const auto opened = std::make_shared<std::atomic<int>>(0);
  const auto there = std::make_shared<std::atomic<bool>>(true);
  Collected<CaptureStatus> states;
  const SourceFactory factory = [opened, there](const vision::SourceOptions&) -> std::unique_ptr<vision::FrameSource> {
    ++*opened;
    if (!*there) throw Error("cannot open rtsp://user:hunter2@camera");
    return std::make_unique<FakeSource>([there](int call) -> std::optional<vision::Frame> {
      if (!*there) throw Error("rtsp://user:hunter2@camera stopped");
      return slowly(call);
    });
  };
  CaptureThread capture(factory, quick(), frames, [&](const CaptureStatus& status) { states.add(status); });
  capture.start();
  ASSERT_TRUE(eventually([&] { return capture.status().in > 5; }));
  *there = false;
  ASSERT_TRUE(eventually([&] { return *opened >= 5; }));
  const std::int64_t before = capture.status().in;
  EXPECT_THAT(capture.status().message, HasSubstr("camera"));
  *there = true;
  ASSERT_TRUE(eventually([&] { return capture.status().in > before + 5; }));
  EXPECT_EQ(capture.status().state, CaptureState::kLive);
  EXPECT_EQ(capture.status().message, "") << "it is over";
  capture.stop();

  std::vector<CaptureState> sequence;
  int attempts = 0;
  for (const CaptureStatus& status : states.all()) {
    sequence.push_back(status.state);
    EXPECT_THAT(toString(status), ::testing::Not(HasSubstr("hunter2")));
    if (status.state != CaptureState::kRetrying) continue;
    attempts = std::max(attempts, status.attempt);
    EXPECT_LE(status.retry_in_s, 0.02);
    EXPECT_THAT(toString(status), HasSubstr("Retrying (" + std::to_string(status.attempt) + ", next in "));
  }
  EXPECT_GE(attempts, 3) << "attempts that fail in a row are counted";
  ASSERT_GE(sequence.size(), 4u);
  EXPECT_EQ(sequence[0], CaptureState::kOpening);
  EXPECT_EQ(sequence[1], CaptureState::kLive);
  EXPECT_EQ(sequence.back(), CaptureState::kIdle);
  EXPECT_THAT(sequence, ::testing::Contains(CaptureState::kRetrying));
}

TEST(Capture, AReadThatHangsForEverIsReplaced) {
  const auto gate = std::make_shared<Gate>();
  const auto frames = std::make_shared<FrameMailbox>();
  const auto opened = std::make_shared<std::atomic<int>>(0);
  Collected<CaptureState> states;
  const SourceFactory factory = [gate, opened](const vision::SourceOptions&) {
    const bool hangs = ++*opened <= 2;
    return std::make_unique<FakeSource>([gate, hangs](int call) {
      if (hangs && call == 3) gate->wait();
      return slowly(call);
    });
  };
  CaptureThread capture(factory, quick(), frames, [&](const CaptureStatus& status) { states.add(status.state); });
  capture.start();
  ASSERT_TRUE(eventually([&] { return capture.status().in > 20; })) << "the third attempt works";
  EXPECT_EQ(capture.status().hanging, 2);
  EXPECT_THAT(states.all(), ::testing::IsSupersetOf({CaptureState::kStalled, CaptureState::kRetrying}));
  gate->open();
  ASSERT_TRUE(eventually([&] { return capture.status().hanging == 0; }));
  const std::int64_t before = capture.status().in;
  ASSERT_TRUE(eventually([&] { return capture.status().in > before + 5; })) << "their frames disturb nobody";
}

TEST(Capture, ASlowCameraDoesNotStallBetweenItsFrames) {
  const auto frames = std::make_shared<FrameMailbox>();
  CaptureOptions options = quick();
  options.source.timeout_s = 60;
  options.stall_s = 0.01;
  Collected<CaptureState> states;
  CaptureThread capture(always([](int call) {
                          std::this_thread::sleep_for(std::chrono::milliseconds(40));
                          return std::optional(frame(call));
                        }),
                        options, frames, [&](const CaptureStatus& status) { states.add(status.state); });
  capture.start();
  ASSERT_TRUE(eventually([&] { return capture.status().in >= 20; }));
  capture.stop();
  const auto all = states.all();
  EXPECT_LT(std::count(all.begin(), all.end(), CaptureState::kStalled), 10) << "of twenty frames";
}

TEST(Capture, AnOutageIsReportedOnceForEachReason) {
  const auto frames = std::make_shared<FrameMailbox>();
  const auto opened = std::make_shared<std::atomic<int>>(0);
  const SourceFactory factory = [opened](const vision::SourceOptions&) -> std::unique_ptr<vision::FrameSource> {
    const int attempt = ++*opened;
    if (attempt <= 20) throw Error(attempt % 2 == 0 ? "refused" : "no route");
    return std::make_unique<FakeSource>([](int call) -> std::optional<vision::Frame> {
      if (call == 3) throw Error("refused");
      return slowly(call);
    });
  };
  Collected<std::string> reported;
  CaptureOptions options = quick();
  options.backoff_s = {0.001};
  options.settled_s = 0;
  CaptureThread capture(factory, options, frames, [&](const CaptureStatus& status) {
    if (const auto event = sourceEvent(status, 0)) reported.add(event->message);
  });
  capture.start();
  ASSERT_TRUE(eventually([&] { return *opened >= 22; }));
  capture.stop();
  const auto all = reported.all();
  ASSERT_GE(all.size(), 4u);
  EXPECT_THAT(all[0], ::testing::AllOf(HasSubstr("Retrying (1,"), HasSubstr("no route")));
  EXPECT_THAT(all[1], ::testing::AllOf(HasSubstr("Retrying (2,"), HasSubstr("refused")));
  EXPECT_EQ(all[2], "Live");
  EXPECT_THAT(all[3], HasSubstr("refused")) << "an outage of its own";
}

// The address of a single picture, a stream that breaks off again and again: no event a second, for a year.
TEST(Capture, ComingAndGoingIsReportedOnceUntilItSettles) {
  const auto frames = std::make_shared<FrameMailbox>();
  const auto opened = std::make_shared<std::atomic<int>>(0);
  const SourceFactory factory = [opened](const vision::SourceOptions&) -> std::unique_ptr<vision::FrameSource> {
    const bool settles = ++*opened > 20;
    return std::make_unique<FakeSource>([settles](int call) -> std::optional<vision::Frame> {
      if (!settles && call > 1) return std::nullopt;
      return slowly(call);
    });
  };
  Collected<std::string> reported;
  CaptureOptions options = quick();
  options.source.timeout_s = options.stall_s = 60;  // a busy machine is no outage
  options.backoff_s = {0.001, 0.002};
  options.settled_s = 0.2;
  CaptureThread capture(factory, options, frames, [&](const CaptureStatus& status) {
    if (status.state == CaptureState::kStalled) return;
    if (const auto event = sourceEvent(status, 0)) reported.add(event->message);
  });
  capture.start();
  ASSERT_TRUE(eventually([&] { return reported.all().size() >= 3; }));
  EXPECT_GT(*opened, 20);
  capture.stop();
  const auto all = reported.all();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0], "Live");
  EXPECT_THAT(all[1], ::testing::AllOf(HasSubstr("Retrying (1,"), HasSubstr("the stream ended")));
  EXPECT_EQ(all[2], "Live") << "for good";
}

// A camera that breaks each time after some frames is opened more and more seldom.
TEST(Capture, FramesOfLessThanTheSettlingTimeDoNotResetTheWait) {
  const auto opened = std::make_shared<std::atomic<int>>(0);
  const SourceFactory factory = [opened](const vision::SourceOptions&) -> std::unique_ptr<vision::FrameSource> {
    ++*opened;
    return std::make_unique<FakeSource>(
        [](int call) { return call < 200 ? slowly(call) : std::optional<vision::Frame>(); });
  };
  CaptureOptions options = quick();
  options.source.timeout_s = options.stall_s = 60;
  options.backoff_s = {0.001, 0.001, 3600};
  options.settled_s = 60;
  CaptureThread capture(factory, options, std::make_shared<FrameMailbox>());
  capture.start();
  EXPECT_TRUE(eventually([&] { return capture.status().retry_in_s > 60; }));
  EXPECT_EQ(*opened, 3);
  capture.stop();
}

// Motion JPEG over a bad network: frames, then none for a while, on the same connection.
TEST(Capture, StallsAreReportedOnceUntilTheSourceSettles) {
  const auto frames = std::make_shared<FrameMailbox>();
  const auto stalls = std::make_shared<std::atomic<int>>(0);
  CaptureOptions options = quick();
  options.source.timeout_s = 60;
  options.stall_s = 0.005;
  options.settled_s = 0.5;
  Collected<std::string> reported;
  CaptureThread capture(always([stalls](int call) {
                          const bool pause = call % 20 == 19 && *stalls < 20;
                          std::this_thread::sleep_for(std::chrono::milliseconds(pause ? 60 : 1));
                          return std::optional(frame(call));
                        }),
                        options, frames, [&](const CaptureStatus& status) {
                          if (status.state == CaptureState::kStalled) ++*stalls;
                          if (const auto event = sourceEvent(status, 0)) reported.add(event->message);
                        });
  capture.start();
  ASSERT_TRUE(eventually([&] { return reported.size() >= 3; }));
  capture.stop();
  EXPECT_GE(*stalls, 20);
  EXPECT_THAT(reported.all(), ::testing::ElementsAre("Live", "Stalled", "Live"));
}

// Each time it is back for good, as it seems, and lost again.
TEST(Capture, ASourceLostAgainMustSettleForLonger) {
  const auto frames = std::make_shared<FrameMailbox>();
  const auto opened = std::make_shared<std::atomic<int>>(0);
  const SourceFactory factory = [opened](const vision::SourceOptions&) -> std::unique_ptr<vision::FrameSource> {
    ++*opened;
    return std::make_unique<FakeSource>([](int call) -> std::optional<vision::Frame> {
      if (call > 40) return std::nullopt;
      return slowly(call);
    });
  };
  Collected<std::string> reported;
  CaptureOptions options = quick();
  options.stall_s = 60;
  options.backoff_s = {0.001};
  options.settled_s = 0.01;
  CaptureThread capture(factory, options, frames, [&](const CaptureStatus& status) {
    if (const auto event = sourceEvent(status, 0)) reported.add(event->message);
  });
  capture.start();
  ASSERT_TRUE(eventually([&] { return *opened >= 60; }));
  capture.stop();
  EXPECT_GE(reported.size(), 3u);
  EXPECT_LE(reported.size(), 40u) << "of sixty outages, which would be two events each";
}

TEST(Capture, ReadsThatHangAreNotPiledUp) {
  const auto gate = std::make_shared<Gate>();
  const auto frames = std::make_shared<FrameMailbox>();
  const auto opened = std::make_shared<std::atomic<int>>(0);
  CaptureOptions options = quick();
  options.source.timeout_s = 0.01;
  {
    CaptureThread capture(
        [gate, opened](const vision::SourceOptions&) -> std::unique_ptr<vision::FrameSource> {
          if (++*opened <= 8) gate->wait();
          return std::make_unique<FakeSource>(slowly);
        },
        options, frames);
    capture.start();
    ASSERT_TRUE(eventually([&] { return capture.status().attempt >= 13; }));
    EXPECT_EQ(*opened, 8);
    EXPECT_THAT(capture.status().message, HasSubstr("8 reads hang"));
    EXPECT_GT(capture.status().hang_s, 0);
    gate->open();
    ASSERT_TRUE(eventually([&] { return capture.status().state == CaptureState::kLive; }));
    EXPECT_EQ(capture.status().hang_s, 0);
    EXPECT_FALSE(capture.status().stuck());
    CaptureStatus for_good;
    for_good.hang_s = 600;
    EXPECT_TRUE(for_good.stuck());
  }
}

TEST(Capture, OneReadThatHangsCountsUntilAFrameComes) {
  const auto gate = std::make_shared<Gate>();
  const auto opened = std::make_shared<std::atomic<int>>(0);
  const auto free = std::make_shared<std::atomic<bool>>(false);
  CaptureOptions options = quick();
  options.source.timeout_s = 0.01;
  CaptureThread capture(
      [gate, opened, free](const vision::SourceOptions&) -> std::unique_ptr<vision::FrameSource> {
        if (++*opened == 1) gate->wait();
        if (!*free) throw Error("the camera is in use");  // by the read that hangs
        return std::make_unique<FakeSource>(slowly);
      },
      options, std::make_shared<FrameMailbox>());
  capture.start();
  ASSERT_TRUE(eventually([&] { return capture.status().attempt >= 4; }));
  EXPECT_EQ(capture.status().hanging, 1);
  const double hang_s = capture.status().hang_s;
  EXPECT_GT(hang_s, 0);
  EXPECT_TRUE(eventually([&] { return capture.status().hang_s > hang_s; })) << "attempts that fail begin it not anew";
  *free = true;
  ASSERT_TRUE(eventually([&] { return capture.status().state == CaptureState::kLive; }));
  EXPECT_EQ(capture.status().hanging, 1);
  EXPECT_EQ(capture.status().hang_s, 0) << "frames come all the same";
  gate->open();
}

#ifdef MPM_TEST_THREADS_CAN_FAIL
TEST(Capture, WithoutAThreadToReadItTriesAgain) {
  const auto opened = std::make_shared<std::atomic<int>>(0);
  CaptureThread capture(
      [opened](const vision::SourceOptions&) -> std::unique_ptr<vision::FrameSource> {
        if (++*opened > 1) return std::make_unique<FakeSource>(slowly);
        no_thread_can_be_made = true;
        throw Error("x");
      },
      quick(), std::make_shared<FrameMailbox>());
  capture.start();
  EXPECT_TRUE(
      eventually([&] { return capture.status().message.find("cannot open the source: cannot start a thread") == 0; }));
  no_thread_can_be_made = false;
  EXPECT_TRUE(eventually([&] { return capture.status().state == CaptureState::kLive; }));
  EXPECT_EQ(capture.status().hanging, 0);
}
#endif

TEST(Capture, TakesFramesNotFasterThanAsked) {
  const auto frames = std::make_shared<FrameMailbox>();
  CaptureOptions options = quick();
  options.max_fps = 100;
  CaptureThread capture(always(frame), options, frames);
  const std::int64_t start = steadyNow();
  capture.start();
  ASSERT_TRUE(eventually([&] { return capture.status().in >= 20; }));
  const auto in = static_cast<double>(capture.status().in);
  EXPECT_LE(in, static_cast<double>(steadyNow() - start) / 10 + 2);
}

}  // namespace
}  // namespace mpm::monitor::test
