// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "mpm/error.hpp"
#include "support/gate.h"
#include "support/throws_with.h"
#include "vision/sources/opening_turns.h"
#include "vision/sources/source_reader.h"
#include "vision/sources/sources.h"

namespace mpm::vision {
namespace {

using test::Gate;

bool opens() { return true; }
bool givesNothing(cv::Mat&) { return false; }
// A read that returns when the gate is opened.
auto hanging(const std::shared_ptr<Gate>& gate) {
  return [gate](cv::Mat&) {
    gate->wait();
    return false;
  };
}
cv::Mat picture(int value) { return cv::Mat(2, 2, CV_8UC3, cv::Scalar::all(value)); }
const SourceOptions kImpatient{.timeout_s = 0.05};
const LiveDescription kEveryFrame{.shown = "stream x", .stem = "x", .latest_only = false, .end_is_error = false};
const LiveDescription kCamera{.shown = "camera 3", .stem = "camera3"};

std::unique_ptr<FrameSource> openLive(const LiveDescription& description, const SourceOptions& options,
                                      const std::function<bool(cv::Mat&)>& read,
                                      const std::function<bool()>& open = opens) {
  return openGuarded(
      description.shown,
      [=](const SourceOptions&) {
        return vision::openLive({open, read}, description);
      },
      options);
}

TEST(LiveSource, GivesEveryFrameOfAStreamInOrder) {
  EXPECT_MPM_ERROR(openLive(kEveryFrame, {}, givesNothing)->next(), "stream x stopped after 0 frames");
  auto frames = std::make_shared<int>(0);
  const auto source = openLive(kEveryFrame, {}, [frames](cv::Mat& image) {
    if (*frames == 5) return false;
    image = picture((*frames)++);
    return true;
  });
  for (int i = 0; i < 5; ++i) {
    const Frame frame = source->next().value();
    EXPECT_EQ(frame.image.at<cv::Vec3b>(0, 0)[0], i);
    EXPECT_EQ(frame.name, "x_00000" + std::to_string(i));
    EXPECT_EQ(frame.source, "stream x");
  }
  EXPECT_FALSE(source->next());
}

TEST(LiveSource, LeavesOutDamagedFramesAndReportsThemAtTimes) {
  auto frames = std::make_shared<int>(0);
  const auto every_third = [frames](cv::Mat& image) {
    if (*frames == 9) return false;
    image = picture(*frames);
    if ((*frames)++ % 3 != 0) throw Error("its pixels are damaged");
    return true;
  };
  std::vector<std::string> said;
  const SourceOptions options{.on_unreadable = [&](const std::string& why, auto) { said.push_back(why); }};
  for (const bool guarded : {false, true}) {
    *frames = 0;
    said.clear();
    const auto open = [=](const SourceOptions& own) {
      return vision::openLive({opens, every_third}, kEveryFrame, own);
    };
    const auto source = guarded ? openGuarded("stream x", open, options) : open(options);
    for (const int value : {0, 3, 6}) EXPECT_EQ(source->next()->image.at<cv::Vec3b>(0, 0)[0], value);
    EXPECT_FALSE(source->next());
    EXPECT_THAT(said, ElementsAre("stream x: 1 damaged frame, its pixels are damaged")) << "once in ten minutes";
  }
}

TEST(LiveSource, OfDamagedFramesAloneEndsOnRequest) {
  std::atomic<bool> stop = false;
  const auto source = vision::openLive({opens,
                                        [&stop](cv::Mat&) -> bool {
                                          stop = true;
                                          throw Error("its pixels are damaged");
                                        }},
                                       kEveryFrame, {.stop = &stop});
  EXPECT_FALSE(source->next());
}

TEST(LiveSource, GivesTheLatestFrameOfACamera) {
  auto gate = std::make_shared<Gate>();
  auto drained = std::make_shared<Gate>();
  auto frames = std::make_shared<int>(0);
  const auto source = openLive(kCamera, {}, [=](cv::Mat& image) {
    if (*frames == 100) {  // the hundredth was handed over before it is asked for the next
      drained->open();
      gate->wait();
      return false;
    }
    image = picture(++*frames);
    return true;
  });
  drained->wait();
  const Frame frame = source->next().value();
  EXPECT_EQ(frame.image.at<cv::Vec3b>(0, 0)[0], 100);
  EXPECT_EQ(frame.index, 0);
  gate->open();
  EXPECT_MPM_ERROR(source->next(), "camera 3 stopped after 100 frames");
}

TEST(LiveSource, AFrameInHandIsNotWrittenTo) {
  auto frames = std::make_shared<int>(0);
  const auto source = openLive(kCamera, {}, [frames](cv::Mat& image) {
    image.create(2, 2, CV_8UC3);  // in place when the buffer fits, as VideoCapture does
    image.setTo(cv::Scalar::all((*frames)++ % 200));
    return true;
  });
  const auto first = source->next();
  const int value = first->image.at<cv::Vec3b>(0, 0)[0];
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(source->next());
  EXPECT_EQ(first->image.at<cv::Vec3b>(1, 1)[0], value);
}

TEST(LiveSource, AReadThatHangsIsLeftBehind) {
  auto gate = std::make_shared<Gate>();
  {
    const auto source = openLive(kCamera, kImpatient, hanging(gate));
    EXPECT_MPM_ERROR(source->next(), "camera 3 gave no frame for 0.05 s");
  }  // returns although the read still hangs
  gate->open();
}

TEST(LiveSource, AnOpenThatHangsIsLeftBehind) {
  auto gate = std::make_shared<Gate>();
  const auto open = [gate] {
    gate->wait();
    return false;
  };
  EXPECT_MPM_ERROR(openLive(kCamera, kImpatient, givesNothing, open), "cannot open camera 3: no answer within 0.05 s");
  gate->open();
}

TEST(LiveSource, ReadsThatHangAreNotPiledUp) {
  auto gate = std::make_shared<Gate>();
  const auto abandoned_reads = std::make_shared<std::atomic<int>>(0);
  auto opened = std::make_shared<std::atomic<int>>(0);
  const auto open = [=](double timeout_s = 0.01) {
    return openLive(kCamera, {.timeout_s = timeout_s, .abandoned_reads = abandoned_reads}, hanging(gate), [=] {
      if (++*opened <= 4) gate->wait();
      return true;
    });
  };
  for (int i = 0; i < 4; ++i) EXPECT_MPM_ERROR(open(), "no answer within 0.01 s");
  EXPECT_EQ(*abandoned_reads, 4);
  for (int i = 0; i < 4; ++i)
    EXPECT_MPM_ERROR(open(0.5)->next(), "camera 3");  // opens, also on a busy machine, but gives no frame
  EXPECT_EQ(*abandoned_reads, 8);
  EXPECT_MPM_ERROR(open(), "cannot open camera 3: 8 reads hang and none has returned");
  EXPECT_EQ(*abandoned_reads, 8);
  gate->open();
  while (*abandoned_reads > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(*opened, 8);
  EXPECT_NO_THROW(openLive(kCamera, {.timeout_s = 300, .abandoned_reads = abandoned_reads}, givesNothing));
}

TEST(LiveSource, TheEndOfAProgramWaitsForReadsThatReturn) {
  auto gate = std::make_shared<Gate>();
  EXPECT_MPM_ERROR(openLive(kCamera, {.timeout_s = 0.01}, hanging(gate))->next(), "camera 3");
  EXPECT_FALSE(SourceReader::allReturn(std::chrono::milliseconds(1)));
  gate->open();
  EXPECT_TRUE(SourceReader::allReturn(std::chrono::minutes(1)));
}

TEST(LiveSource, SaysThatItDoesNotOpenInOurWords) {
  EXPECT_MPM_ERROR(openLive(kCamera, {}, givesNothing, [] { return false; }), "cannot open camera 3");
  const auto throws = []() -> bool { CV_Error(cv::Error::StsError, "password"); };
  EXPECT_THAT([&] { openLive(kCamera, {}, givesNothing, throws); },
              ::testing::ThrowsMessage<Error>("cannot open camera 3"));
}

TEST(OpeningTurns, FirstComeFirstServed) {
  OpeningTurns turns;
  Gate holds, begun;
  std::vector<int> order;  // written by each in its turn
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      EXPECT_TRUE(turns.run({.timeout_s = 300}, [&] {
        order.push_back(i);
        begun.open();
        holds.wait();
        return true;
      }));
    });
    begun.wait();
    while (turns.waiting() < static_cast<std::size_t>(i)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  holds.open();
  threads.clear();
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3));
  EXPECT_FALSE(turns.run({}, [] { return false; }));
}

// It is the turn of this thread until the gate opens.
std::jthread holderOf(OpeningTurns& turns, Gate& holds, double timeout_s = 300) {
  const auto begun = std::make_shared<Gate>();
  std::jthread holder([&turns, &holds, begun, timeout_s] {
    EXPECT_TRUE(turns.run({.timeout_s = timeout_s}, [&] {
      begun->open();
      holds.wait();
      return true;
    }));
  });
  begun->wait();
  return holder;
}

TEST(OpeningTurns, OneThatHangsLosesItsTurnAndOneThatIsToEndIsNotCalled) {
  OpeningTurns turns;
  Gate hangs;
  const std::jthread holder = holderOf(turns, hangs, 0.05);
  std::atomic<bool> stop = true;
  EXPECT_FALSE(turns.run({.timeout_s = 300, .stop = &stop}, []() -> bool { throw Error("called"); }));
  EXPECT_TRUE(turns.run({.timeout_s = 300}, [] { return true; })) << "though the other one has not returned";
  hangs.open();
}

TEST(OpeningTurns, OneThatIsHeldUpWhileItWaitsOpensAllTheSame) {
  OpeningTurns turns;
  Gate holds, held, late;
  std::jthread holder = holderOf(turns, holds);
  const auto note = [&](const std::string&) {
    late.open();
    held.wait();
  };
  std::jthread waits([&] { EXPECT_TRUE(turns.run({.timeout_s = 0.05, .on_note = note}, [] { return true; })); });
  late.wait();
  holds.open();
  holder.join();  // from now on it is the turn of the one that is held up
  EXPECT_TRUE(turns.run({.timeout_s = 300}, [] { return true; })) << "which loses it";
  held.open();
}

// It waits for longer than a source may be silent.
TEST(OpeningTurns, WaitingForOneIsNoSilence) {
  const auto turns = std::make_shared<OpeningTurns>();
  Gate holds;
  const std::jthread holder = holderOf(*turns, holds);
  const std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::seconds(3));
    holds.open();
  });
  const auto source = openGuarded("camera 3",
                                  [=](const SourceOptions& own) {
                                    const auto open = [=] { return turns->run(own, opens); };
                                    const auto read = [](cv::Mat& image) {
                                      image = picture(7);
                                      return true;
                                    };
                                    return vision::openLive({open, read}, kCamera, own);
                                  },
                                  {.timeout_s = 2});
  EXPECT_TRUE(source->next());
}

TEST(LiveSource, StopsWaitingOnRequest) {
  auto gate = std::make_shared<Gate>();
  std::atomic<bool> stop = false;
  const auto source = openLive(kCamera, {.timeout_s = 300, .stop = &stop}, hanging(gate));
  std::thread later([&] { stop = true; });
  EXPECT_FALSE(source->next());
  later.join();
  gate->open();
}

}  // namespace
}  // namespace mpm::vision
