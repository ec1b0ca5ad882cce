// SPDX-License-Identifier: Apache-2.0
#include "monitor/capture/capture.h"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>

#include "monitor/fake_source.h"
#include "monitor/wait.h"
#include "support/gate.h"
#include "support/matchers.h"

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

vision::Frame frame(int index) {
  return {.image = cv::Mat(2, 2, CV_8UC3, cv::Scalar::all(index % 256)), .name = "x", .source = "x", .index = index};
}

std::optional<vision::Frame> slowly(int call) {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return frame(call);
}

// One source, which is opened again within milliseconds. A busy machine is no outage: tests of hanging ones set times.
class Capture : public ::testing::Test {
 protected:
  Capture() {
    options_.source.timeout_s = options_.stall_s = 60;
    options_.backoff_s = {0.01, 0.02};
  }
  void make(SourceFactory factory) {
    capture_.emplace(std::move(factory), options_, frames_,
                     [states = states_](const CaptureStatus& status) { states->add(status); });
  }
  // Starts a source that `next` makes of how often it was opened and the number of the call: -1 when it is opened.
  void start(std::function<std::optional<vision::Frame>(int, int)> next) {
    make([next = std::move(next), opened = opened_](const vision::SourceOptions&) {
      const int time = ++*opened;
      next(time, -1);
      return std::make_unique<FakeSource>([next, time](int call) { return next(time, call); });
    });
    capture_->start();
  }
  // As files are read: each frame, and once.
  void startFiles(std::function<std::optional<vision::Frame>(int)> next) {
    options_.lossless = true;
    options_.reconnect = false;
    make(always(std::move(next)));
    capture_->start();
  }
  // The next frame; fails where none comes.
  CapturedFrame take() { return frames_->take(std::chrono::minutes(1)).value(); }
  CaptureStatus status() const { return capture_->status(); }
  std::vector<CaptureState> sequence() const {
    std::vector<CaptureState> states;
    for (const CaptureStatus& one : states_->all()) states.push_back(one.state);
    return states;
  }
  std::vector<std::string> reported() const {
    std::vector<std::string> messages;
    for (const CaptureStatus& one : states_->all())
      if (const auto event = sourceEvent(one, 0)) messages.push_back(event->message);
    return messages;
  }

  CaptureOptions options_;
  const std::shared_ptr<FrameMailbox> frames_ = std::make_shared<FrameMailbox>();
  // A read that hangs may outlive the test.
  const std::shared_ptr<std::atomic<int>> opened_ = std::make_shared<std::atomic<int>>(0);
  const std::shared_ptr<Collected<CaptureStatus>> states_ = std::make_shared<Collected<CaptureStatus>>();
  std::optional<CaptureThread> capture_;
};

TEST_F(Capture, GivesTheLatestFrameAndCounts) {
  options_.stream = 5;
  options_.now = [] { return UnixMs{1234}; };
  make(always(slowly));
  EXPECT_EQ(status().state, CaptureState::kIdle);
  EXPECT_EQ(status().frame_age_s, -1);
  capture_->start();
  ASSERT_TRUE(eventually([&] { return status().frames_in >= 50; }));
  EXPECT_EQ(status().state, CaptureState::kLive);
  EXPECT_EQ(status().frame_count, 0) << "nobody knows how many will come";
  EXPECT_GT(status().fps, 0);
  EXPECT_GE(status().frame_age_s, 0);
  const CapturedFrame taken = frames_->tryTake().value();
  EXPECT_EQ(std::tuple(taken.stream, taken.time), std::tuple(5, 1234));
  capture_->stop();
  EXPECT_EQ(status().state, CaptureState::kIdle);
  const bool one_left = frames_->tryTake().has_value();
  EXPECT_EQ(status().frames_in, status().dropped + 1 + (one_left ? 1 : 0))
      << "every frame was taken, dropped, or waits";
  EXPECT_EQ(capture_->last()->id, status().frames_in);
}

TEST_F(Capture, NoFrameComesAfterStop) {
  for (int i = 0; i < 20; ++i) {
    make(always(frame));
    capture_->start();
    ASSERT_TRUE(eventually([&] { return status().frames_in > 0; }));
    capture_->stop();
    (void)frames_->tryTake();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_FALSE(frames_->tryTake());
  }
}

TEST_F(Capture, NothingIsTakenWhileACameraAdapts) {
  options_.adapt_s = 0.2;
  make(always(frame));
  const std::int64_t begin = steadyNow();
  capture_->start();
  EXPECT_GE(take().steady - begin, 200);
}

TEST_F(Capture, FilesLoseNoFrameAndEnd) {
  options_.source.timeout_s = 0.1;
  startFiles([](int call) { return call < 200 ? std::optional(frame(call)) : std::nullopt; });
  for (int i = 1; i <= 200; ++i) {
    ASSERT_EQ(take().id, i);
    if (i == 100) std::this_thread::sleep_for(std::chrono::milliseconds(400));  // longer than the time-out
  }
  ASSERT_TRUE(eventually([&] { return status().state == CaptureState::kEnded; }));
  EXPECT_EQ(status().dropped, 0);
  EXPECT_EQ(status().message, "");
}

TEST_F(Capture, TellsOfPicturesLeftOutBeforeItEnds) {
  const auto unreadable = std::make_shared<Collected<std::string>>();
  options_.source.on_unreadable = [unreadable](const std::string& why, std::optional<UnixMs> taken) {
    unreadable->add(why + " " + std::to_string(taken.value_or(-1)));
  };
  options_.lossless = true;
  options_.reconnect = false;
  make([](const vision::SourceOptions& source) {
    return std::make_unique<FakeSource>([reported = source.on_unreadable](int call) {
      if (call < 3) reported("b" + std::to_string(call), call > 0 ? std::optional<UnixMs>(1000 * call) : std::nullopt);
      return call < 5 ? std::optional(frame(call)) : std::nullopt;
    });
  });
  capture_->start();
  for (int i = 0; i < 5; ++i) take();
  ASSERT_TRUE(eventually([&] { return status().state == CaptureState::kEnded; }));
  EXPECT_EQ(status().message, "3 of 8 pictures could not be read");
  EXPECT_EQ(std::pair(status().unreadable, status().frames_in), std::pair(std::int64_t{3}, std::int64_t{5}));
  EXPECT_THAT(unreadable->all(), ElementsAre("b0 -1", "b1 1000", "b2 2000"));
}

// A model that is busy for minutes, or --every, is no silence of a file or of demo:.
TEST_F(Capture, ASourceThatIsKeptWaitingIsNotSilent) {
  const auto gate = std::make_shared<Gate>();
  startFiles([gate](int call) {
    if (call == 2) gate->wait();
    return call < 3 ? std::optional(frame(call)) : std::nullopt;
  });
  ASSERT_TRUE(eventually([&] { return status().frames_in == 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(status().frame_age_s, 0) << "nobody takes the first frame";
  take();
  take();
  EXPECT_TRUE(eventually([&] { return status().frame_age_s > 0.05; })) << "and now the source keeps others waiting";
  gate->open();
}

TEST_F(Capture, AFileThatCannotBeReadEndsWithTheReason) {
  options_.reconnect = false;
  start([](int, int) -> std::optional<vision::Frame> { throw Error("there is no file 'x'"); });
  ASSERT_TRUE(eventually([&] { return status().state == CaptureState::kEnded; }));
  EXPECT_EQ(status().message, "there is no file 'x'");
}

TEST_F(Capture, ASourceThatDisappearsComesBack) {
  const auto there = std::make_shared<std::atomic<bool>>(true);
  start([there](int, int call) {
    if (!*there) throw Error("rtsp://user:hunter2@camera " + std::string(call < 0 ? "does not open" : "stopped"));
    return slowly(call);
  });
  ASSERT_TRUE(eventually([&] { return status().frames_in > 5; }));
  *there = false;
  ASSERT_TRUE(eventually([&] { return *opened_ >= 5; }));
  const std::int64_t before = status().frames_in;
  EXPECT_THAT(status().message, HasSubstr("camera"));
  *there = true;
  ASSERT_TRUE(eventually([&] { return status().frames_in > before + 5; }));
  EXPECT_EQ(status().state, CaptureState::kLive);
  EXPECT_EQ(status().message, "") << "it is over";
  capture_->stop();

  int attempts = 0;
  for (const CaptureStatus& one : states_->all()) {
    EXPECT_THAT(toString(one), Not(HasSubstr("hunter2")));
    if (one.state != CaptureState::kRetrying) continue;
    attempts = std::max(attempts, one.attempt);
    EXPECT_LE(one.retry_in_s, 0.02);
    EXPECT_THAT(toString(one), HasSubstr("Retrying (" + std::to_string(one.attempt) + ", next in "));
  }
  EXPECT_GE(attempts, 3) << "attempts that fail in a row are counted";
  const std::vector<CaptureState> states = sequence();
  EXPECT_EQ(states.at(0), CaptureState::kOpening);
  EXPECT_EQ(states.at(1), CaptureState::kLive);
  EXPECT_EQ(states.back(), CaptureState::kIdle);
}

TEST_F(Capture, AReadThatHangsForEverIsReplaced) {
  const auto gate = std::make_shared<Gate>();
  options_.source.timeout_s = 0.1;
  options_.stall_s = 0.03;
  start([gate](int opened, int call) {
    if (opened <= 2 && call == 3) gate->wait();
    return slowly(call);
  });
  ASSERT_TRUE(eventually([&] { return status().frames_in > 20 && status().hanging == 2; }))
      << "the third attempt works";
  EXPECT_THAT(sequence(), ::testing::IsSupersetOf({CaptureState::kStalled, CaptureState::kRetrying}));
  gate->open();
  ASSERT_TRUE(eventually([&] { return status().hanging == 0; }));
  const std::int64_t before = status().frames_in;
  ASSERT_TRUE(eventually([&] { return status().frames_in > before + 5; })) << "their frames disturb nobody";
}

TEST_F(Capture, ASlowCameraDoesNotStallBetweenItsFrames) {
  options_.stall_s = 0.01;
  start([](int, int call) {
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
    return std::optional(frame(call));
  });
  ASSERT_TRUE(eventually([&] { return status().frames_in >= 20; }));
  capture_->stop();
  EXPECT_LT(std::ranges::count(states_->all(), CaptureState::kStalled, &CaptureStatus::state), 10) << "of 20 frames";
}

TEST_F(Capture, AnOutageIsReportedOnceForEachReason) {
  options_.backoff_s = {0.001};
  options_.settled_s = 0;
  start([](int opened, int call) {
    if (opened <= 20) throw Error(opened % 2 == 0 ? "refused" : "no route");
    if (call == 3) throw Error("refused");
    return slowly(call);
  });
  ASSERT_TRUE(eventually([&] { return *opened_ >= 22; }));
  capture_->stop();
  const std::vector<std::string> all = reported();
  ASSERT_GE(all.size(), 4u);
  EXPECT_THAT(all[0], AllOf(HasSubstr("Retrying (1,"), HasSubstr("no route")));
  EXPECT_THAT(all[1], AllOf(HasSubstr("Retrying (2,"), HasSubstr("refused")));
  EXPECT_EQ(all[2], "Live");
  EXPECT_THAT(all[3], HasSubstr("refused")) << "an outage of its own";
}

// The address of a single picture, a stream that breaks off again and again: no event a second, for a year.
TEST_F(Capture, ComingAndGoingIsReportedOnceUntilItSettles) {
  options_.backoff_s = {0.001, 0.002};
  options_.settled_s = 0.2;
  start([](int opened, int call) { return opened <= 20 && call > 1 ? std::nullopt : slowly(call); });
  ASSERT_TRUE(eventually([&] { return reported().size() >= 3; }));
  EXPECT_GT(*opened_, 20);
  capture_->stop();
  EXPECT_THAT(reported(), ElementsAre("Live", AllOf(HasSubstr("Retrying (1,"), HasSubstr("the stream ended")), "Live"));
}

// A camera that breaks each time after some frames is opened more and more seldom.
TEST_F(Capture, FramesOfLessThanTheSettlingTimeDoNotResetTheWait) {
  options_.backoff_s = {0.001, 0.001, 3600};
  options_.settled_s = 60;
  start([](int, int call) { return call < 200 ? slowly(call) : std::nullopt; });
  EXPECT_TRUE(eventually([&] { return status().retry_in_s > 60; }));
  EXPECT_EQ(*opened_, 3);
}

// Motion JPEG over a bad network: frames, then none for a while, on the same connection.
TEST_F(Capture, StallsAreReportedOnceUntilTheSourceSettles) {
  options_.stall_s = 0.05;
  options_.settled_s = 0.5;
  const auto stalls = [states = states_] {
    return std::ranges::count(states->all(), CaptureState::kStalled, &CaptureStatus::state);
  };
  start([stalls](int, int call) {
    const bool pause = call % 20 == 19 && stalls() < 5;
    std::this_thread::sleep_for(std::chrono::milliseconds(pause ? 300 : 1));
    return std::optional(frame(call));
  });
  ASSERT_TRUE(eventually([&] { return reported().size() >= 3; }));
  capture_->stop();
  EXPECT_GE(stalls(), 5);
  EXPECT_THAT(reported(), ElementsAre("Live", "Stalled", "Live"));
}

// Each time it is back for good, as it seems, and lost again.
TEST_F(Capture, ASourceLostAgainMustSettleForLonger) {
  options_.backoff_s = {0.001};
  options_.settled_s = 0.01;
  start([](int, int call) { return call > 40 ? std::nullopt : slowly(call); });
  ASSERT_TRUE(eventually([&] { return *opened_ >= 60; }));
  capture_->stop();
  EXPECT_GE(reported().size(), 3u);
  EXPECT_LE(reported().size(), 40u) << "of sixty outages, which would be two events each";
}

TEST_F(Capture, OneReadThatHangsCountsUntilAFrameComes) {
  const auto gate = std::make_shared<Gate>();
  const auto free = std::make_shared<std::atomic<bool>>(false);
  options_.source.timeout_s = 0.01;
  start([gate, free](int opened, int call) {
    if (opened == 1) gate->wait();
    if (!*free) throw Error("the camera is in use");  // by the read that hangs
    return slowly(call);
  });
  ASSERT_TRUE(eventually([&] { return status().attempt >= 4 && status().hanging == 1; }));
  const double hang_s = status().hang_s;
  EXPECT_GT(hang_s, 0);
  EXPECT_TRUE(eventually([&] { return status().hang_s > hang_s; })) << "attempts that fail begin it not anew";
  *free = true;
  ASSERT_TRUE(eventually([&] {
    const CaptureStatus now = status();
    return now.state == CaptureState::kLive && now.hanging == 1 && now.hang_s == 0;
  })) << "frames come all the same";
  EXPECT_FALSE(status().stuck());
  EXPECT_TRUE((CaptureStatus{.message = "", .hang_s = 600}).stuck());
  gate->open();
}

#ifdef MPM_TEST_THREADS_CAN_FAIL
TEST_F(Capture, WithoutAThreadToReadItTriesAgain) {
  start([](int opened, int call) {
    if (opened > 1) return slowly(call);
    no_thread_can_be_made = true;
    throw Error("x");
  });
  EXPECT_TRUE(
      eventually([&] { return status().message.starts_with("cannot open the source: cannot start a thread"); }));
  no_thread_can_be_made = false;
  EXPECT_TRUE(eventually([&] { return status().state == CaptureState::kLive; }));
  EXPECT_EQ(status().hanging, 0);
}
#endif

TEST_F(Capture, TakesFramesNotFasterThanAsked) {
  options_.max_fps = 100;
  make(always(frame));
  const std::int64_t begin = steadyNow();
  capture_->start();
  ASSERT_TRUE(eventually([&] { return status().frames_in >= 20; }));
  const auto in = static_cast<double>(status().frames_in);
  EXPECT_LE(in, static_cast<double>(steadyNow() - begin) / 10 + 2);
}

using namespace std::chrono_literals;

TEST(Mailbox, TheLatestWinsAndDropsAreCounted) {
  Mailbox<std::unique_ptr<int>> mailbox;
  EXPECT_FALSE(mailbox.tryTake());
  for (int i = 0; i < 5; ++i) mailbox.put(std::make_unique<int>(i));
  EXPECT_EQ(**mailbox.tryTake(), 4);
  EXPECT_FALSE(mailbox.tryTake());
  EXPECT_EQ(mailbox.dropped(), 4);
}

TEST(Mailbox, WakesWhoWaits) {
  Mailbox<int> mailbox;
  std::thread producer([&] { mailbox.put(7); });
  EXPECT_EQ(mailbox.take(1min), 7);
  producer.join();
  std::thread waker([&] { mailbox.wake(); });
  EXPECT_FALSE(mailbox.take(10min));
  waker.join();
  std::thread closer([&] { mailbox.close(); });
  EXPECT_FALSE(mailbox.take(10min));
  closer.join();
  mailbox.put(1);
  EXPECT_FALSE(mailbox.take(10min)) << "closed for good";
  EXPECT_EQ(mailbox.dropped(), 0);
}

TEST(Mailbox, AProducerThatWaitsLosesNothing) {
  Mailbox<int> mailbox;
  std::thread producer([&] {
    for (int i = 0; i < 1000; ++i) {
      while (!mailbox.waitEmpty(1s)) continue;
      mailbox.put(i);
    }
  });
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(mailbox.take(1min), i);
  producer.join();
  EXPECT_EQ(mailbox.dropped(), 0);
}

TEST(Mailbox, EveryValueIsTakenOrDropped) {
  Mailbox<int> mailbox;
  constexpr int kThreads = 3, kEach = 5000;
  std::vector<std::thread> producers;
  for (int t = 0; t < kThreads; ++t) {
    producers.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) mailbox.put(i);
    });
  }
  std::atomic<int> taken = 0;
  std::atomic<bool> done = false;
  std::thread consumer([&] {
    while (!done)
      if (mailbox.take(1ms)) ++taken;
  });
  for (auto& producer : producers) producer.join();
  done = true;
  consumer.join();
  if (mailbox.tryTake()) ++taken;
  EXPECT_EQ(taken + mailbox.dropped(), kThreads * kEach);
}

}  // namespace
}  // namespace mpm::monitor::test
