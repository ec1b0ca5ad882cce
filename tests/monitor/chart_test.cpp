// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "monitor/samples.h"
#include "monitor/sql.h"

namespace mpm::monitor::test {
namespace {

using ChartTest = InFolder;

const std::vector<SeriesKey> kTwo = {{.quantity = "tokens"}, {.class_name = "tree"}};

// Eight cameras at 1 s on two cores got a sample in 10 s: 59 of 60 were called gaps.
TEST_F(ChartTest, ASlowMachineMakesNoGaps) {
  std::vector<Sample> samples;
  UnixMs time = kNoon;
  for (int i = 0; i < 400; ++i, time += (i % 2 == 0 ? 11 : 9) * kSecondMs + (i == 200 ? kMinuteMs : 0))
    samples.push_back(sampleAt(time));
  record(path_, samples, session("camera 0", 1));
  const StoreReader store(path_);
  EXPECT_EQ(store.gaps(1, 0, INT64_MAX).count, 1);
  EXPECT_NEAR(store.pace(1).usual_s, 11, 1e-9);
  for (const int max_buckets : {2000, 1000, 30}) {
    const Chart chart = store.chart({.source = 1, .from = INT64_MIN, .to = INT64_MAX, .max_buckets = max_buckets});
    const auto gaps = std::ranges::count_if(chart.buckets, [](const ChartBucket& one) { return one.gap_before; });
    EXPECT_EQ(gaps, chart.bucket_ms < kMinuteMs ? 1 : 0) << chart.bucket_ms;
  }
}

// As StoreReader::sources() says, whatever span is asked for.
TEST_F(ChartTest, TimesThatAreNotBelievedAreInNoChart) {
  const UnixMs future = unixNow() + 400 * kDayMs;
  record(path_,
         {sampleAt(5000, 9), sampleAt(kNoon, 100), sampleAt(kNoon + 2 * kSecondMs, 200), sampleAt(future, 9),
          sampleAt(future + kHourMs, 9)},
         session("camera 0", 0));
  const StoreReader store(path_);
  const Chart chart = store.chart({.source = 1, .from = 0, .to = INT64_MAX, .series = kTwo});
  EXPECT_EQ(chart.bucket_ms, kSecondMs) << "wide enough for two seconds, not for years";
  EXPECT_EQ(chart.buckets.size(), 2u);
  const Spread tokens = store.means(latestSeries(store), 0, INT64_MAX, kTwo)[0];
  EXPECT_EQ(std::pair(tokens.samples, tokens.mean), std::pair(std::int64_t{2}, 150.0));
  EXPECT_EQ(store.gaps(1, 0, INT64_MAX).count, 0);
  EXPECT_EQ(store.pace(1).usual_s, 2) << "no hour";
  EXPECT_EQ(store.rollup({.series = 1, .from = 0, .to = INT64_MAX, .width = kDayMs}).size(), 3u) << "sums have all";
}

TEST_F(ChartTest, ASessionThatBeganByAWrongClockFollowsTheOneBefore) {
  std::vector<Sample> samples;
  for (int i = 0; i < 40; ++i) samples.push_back(sampleAt(kNoon + i * kMinuteMs));
  for (const bool wrong : {false, true}) {
    const std::string path = folder_ / (wrong ? "wrong.db" : "right.db");
    record(path, {sampleAt(kNoon - kHourMs)}, session("camera 0", 10));
    record(path, samples, session("camera 0", 60));
    runSql(path, "UPDATE session SET started_ms = " + std::to_string(kNoon - kHourMs) + ", ended_ms = " +
                     std::to_string(kNoon - kMinuteMs) + " WHERE id = 1; UPDATE session SET started_ms = " +
                     std::to_string(wrong ? 5000 : kNoon - kSecondMs) + " WHERE id = 2");
    EXPECT_THAT(StoreReader(path).outages(1, kNoon, kNoon + kHourMs), IsEmpty()) << "a minute is not too slow";
  }
  // A scene has a clock of its own: how often it was to be measured says nothing about its times.
  record(path_, samples, session("demo:street", 1));
  runSql(path_, "UPDATE session SET started_ms = 0");
  EXPECT_THAT(StoreReader(path_).outages(1, kNoon, kNoon + kHourMs), IsEmpty());
}

TEST_F(ChartTest, GapsGoByTheSamplesThatAreKeptAndTheEveryOfTheirTime) {
  const auto samples = [](UnixMs from, UnixMs to, UnixMs step) {
    std::vector<Sample> all;
    for (UnixMs time = from; time < to; time += step) all.push_back(sampleAt(time));
    return all;
  };
  const auto startedAt = [&](int session, UnixMs time) {
    runSql(path_, "UPDATE session SET started_ms = " + std::to_string(time) + " WHERE id = " + std::to_string(session));
  };
  const UnixMs outage = kNoon + 10 * kMinuteMs, later = kNoon + 20 * kMinuteMs;
  record(path_, samples(kNoon, outage, 500), session("camera 0", 0.5));
  startedAt(1, kNoon);
  record(path_, samples(outage + kMinuteMs, later, 500), session("camera 0", 0.5));
  startedAt(2, outage + kMinuteMs);
  record(path_, samples(later + kMinuteMs * 10, later + kHourMs, 10 * kMinuteMs), session("camera 0", 600));
  startedAt(3, later + kMinuteMs * 10);
  const StoreReader store(path_);
  EXPECT_EQ(store.gaps(1, 0, INT64_MAX).count, 1)
      << "a minute was too long while a sample was to come each half second";

  const UnixMs day = kNoon + kDayMs;
  record(path_, samples(day, day + 25 * kMinuteMs, kSecondMs), session("camera 0", 1));
  startedAt(4, day);
  record(path_, samples(day + 45 * kMinuteMs, day + kHourMs, kSecondMs), session("camera 0", 1));
  startedAt(5, day + 45 * kMinuteMs);
  EXPECT_EQ(store.gaps(1, 0, INT64_MAX).count, 3);
  forget(path_, day);
  EXPECT_EQ(store.gaps(1, 0, INT64_MAX).count, 2) << "the first is within an hour whose samples are forgotten";
}

TEST_F(ChartTest, OnlyAStepOfMoreThanTwoAndAHalfUsualOnesIsAGap) {
  std::vector<Sample> samples;
  UnixMs time = kNoon;
  for (int i = 0; i < 60; ++i) {
    samples.push_back(sampleAt(time));
    time += i == 20 ? 25 * kSecondMs : i == 40 ? 25 * kSecondMs + 1 : 10 * kSecondMs;
  }
  record(path_, samples, session("camera 0", 10));
  const Gaps gaps = StoreReader(path_).gaps(1, 0, INT64_MAX);
  EXPECT_EQ(std::pair(gaps.count, gaps.longest), std::pair(1, 25 * kSecondMs + 1));
}

TEST_F(ChartTest, AStepGoesByTheEveryThatHeldWhenItEnded) {
  std::vector<Sample> samples;
  for (int second = 0; second < 60; ++second) samples.push_back(sampleAt(kNoon + second * kSecondMs));
  const UnixMs again = samples.back().time + 400 * kSecondMs;
  record(path_, samples, session("camera 0", 1));
  record(path_, {sampleAt(again)}, session("camera 0", 300));
  const auto startedAt = [&](int session, UnixMs time) {
    runSql(path_, "UPDATE session SET started_ms = " + std::to_string(time) + " WHERE id = " + std::to_string(session));
  };
  startedAt(1, kNoon);
  startedAt(2, again);
  EXPECT_EQ(StoreReader(path_).gaps(1, 0, INT64_MAX).count, 0) << "one in five minutes was asked for";
  startedAt(2, again + 1);
  EXPECT_EQ(StoreReader(path_).gaps(1, 0, INT64_MAX).count, 1);
}

TEST_F(ChartTest, AGapThatReachesIntoTheSpanCountsWithItsPart) {
  std::vector<Sample> samples;
  for (const auto& [from, to] : {std::pair(0, 60), {300, 360}, {600, 660}})
    for (int minute = from; minute < to; ++minute) samples.push_back(sampleAt(kNoon + minute * kMinuteMs));
  samples.insert(samples.begin(), sampleAt(5000));     // before the clock was set
  samples.push_back(sampleAt(kNoon + 4000 * kDayMs));  // and when it was set to another day
  record(path_, samples, session("camera 0", 60));
  const StoreReader store(path_);
  const auto gaps = [&](int from, int to, std::optional<UnixMs> now = {}) {
    const Gaps found = store.gaps(1, kNoon + from * kMinuteMs, kNoon + to * kMinuteMs, now);
    return std::tuple(found.count, found.longest / kMinuteMs,
                      std::lround(static_cast<double>(found.total) / kMinuteMs));
  };
  EXPECT_EQ(gaps(0, 660), std::tuple(2, 241, 482));
  EXPECT_EQ(gaps(100, 500), std::tuple(2, 200, 341)) << "from 100 to 300, and from 359 to 500";
  EXPECT_EQ(gaps(100, 200), std::tuple(1, 99, 100)) << "nothing but a gap";
  EXPECT_EQ(gaps(310, 350), std::tuple(0, 0, 0));
  EXPECT_EQ(gaps(0, 900, kNoon + 662 * kMinuteMs), std::tuple(2, 241, 482)) << "it is alive";
  EXPECT_EQ(gaps(0, 900, kNoon + 860 * kMinuteMs), std::tuple(3, 241, 683)) << "until now";
}

// Four days of a sample a minute are too many to be read one by one.
TEST_F(ChartTest, ReadsHoursWhereItsBucketsHoldWholeOnes) {
  std::vector<Sample> samples;
  for (UnixMs time = kNoon; time < kNoon + 4 * kDayMs; time += kMinuteMs) samples.push_back(sampleAt(time));
  record(path_, samples, session("camera 0", 60));
  runSql(path_, "UPDATE bucket SET samples = 7 WHERE width_ms = 60000");
  for (const auto& [max, factor] : {std::pair(400, 7), {100, 1}, {20, 1}}) {
    const Chart chart = StoreReader(path_).chart({.source = 1, .to = INT64_MAX, .series = kTwo, .max_buckets = max});
    EXPECT_EQ(chart.buckets.at(1).samples, factor * chart.bucket_ms / kMinuteMs) << max;
  }
}

// What one model calls 0 another one calls 2, and a third one does not know it.
TEST_F(ChartTest, AreaOfAClassIsThatOfItsName) {
  {
    StoreWriter writer(path_);
    SessionInfo info = session();
    UnixMs time = kNoon;
    for (const auto& classes :
         {std::vector<std::string>{"river", "building"}, {"road", "building", "river"}, {"road"}}) {
      info.classes = classes;
      writer.beginSession(info);
      Sample sample = sampleAt(time += kMinuteMs / 4);  // in the minute of the others, too
      const auto river = std::find(classes.begin(), classes.end(), "river") - classes.begin();
      sample.whole().areas = {{0, river == 0 ? 0.1 : 0.9}};
      if (river == 2) sample.whole().areas.emplace_back(2, 0.1);
      writer.append(sample);
    }
  }
  const ChartQuery river{.source = 1, .from = kNoon, .to = kNoon + kHourMs, .series = {{.class_name = "river"}}};
  const auto expectRiver = [&](std::int64_t width, std::int64_t samples) {
    const Chart chart = StoreReader(path_).chart(river);
    EXPECT_EQ(chart.bucket_ms, width);
    Spread all;
    for (const ChartBucket& bucket : chart.buckets) {
      all.samples += bucket.values[0].samples;
      if (bucket.values[0].samples > 0) {
        EXPECT_NEAR(bucket.values[0].mean, 10, 1e-5);
        EXPECT_NEAR(bucket.values[0].max, 10, 1e-5);
      }
    }
    EXPECT_EQ(all.samples, samples) << "of models that know the class";
  };
  expectRiver(kSecondMs, 2);
  forget(path_, kNoon + kDayMs);
  expectRiver(kMinuteMs, 1);  // the latest of both: no mean over two models
}

}  // namespace
}  // namespace mpm::monitor::test
