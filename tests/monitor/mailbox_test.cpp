// SPDX-License-Identifier: Apache-2.0
#include "monitor/capture/mailbox.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace mpm::monitor {
namespace {

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
  for (int t = 0; t < kThreads; ++t)
    producers.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) mailbox.put(i);
    });
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
}  // namespace mpm::monitor
