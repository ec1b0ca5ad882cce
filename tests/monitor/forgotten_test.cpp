// SPDX-License-Identifier: Apache-2.0
// What is known of a time whose samples were forgotten, and also its minutes or its hours.

#include <filesystem>

#include "monitor/samples.h"
#include "monitor/sql.h"
#include "monitor/statistics/day_night.h"
#include "monitor/store/merge.h"
#include "monitor/store/retention.h"
#include "monitor/store/schema.h"
#include "support/throws_with.h"

namespace mpm::monitor::test {
namespace {

using Forgotten = InFolder;

constexpr UnixMs kMidnight = kNoon - 12 * kHourMs;
const NightByHours kNights{.from = 20 * 60, .to = 7 * 60, .clock = vision::CameraClock()};

std::vector<Sample> days(int first, int last) {
  return samplesBetween(kMidnight + first * kDayMs, kMidnight + last * kDayMs, kNights);
}

// By day and by night.
std::pair<std::int64_t, std::int64_t> sides(const std::string& path) {
  const auto all = StoreReader(path).rollup({.series = 1, .from = 0, .to = INT64_MAX})[0].regions.at("");
  return {all.of(Side::kDay).samples, all.of(Side::kNight).samples};
}

TEST_F(Forgotten, DaysWithoutHoursStayAsTheyAreUnlessTheRuleGivesThemOneSide) {
  record(path_, days(0, 4), session("camera 0", 600));
  const auto before = sides(path_);
  ASSERT_EQ(before, std::pair(4 * 13 * std::int64_t{6}, 4 * 11 * std::int64_t{6}));
  forget(path_, kMidnight + 2 * kDayMs + 9 * kHourMs, kDayMs);  // the third day has some of its hours
  StoreWriter writer(path_);
  ASSERT_TRUE(writer.judge("camera 0", kNights));
  EXPECT_EQ(sides(path_), before);
  ASSERT_TRUE(writer.judge("camera 0", NightByHours{.from = 0, .to = 60, .clock = vision::CameraClock()}));
  EXPECT_EQ(sides(path_), std::pair(before.first + 60, before.second - 60)) << "the last day alone";
  ASSERT_TRUE(writer.judge("camera 0", NightBySun{.latitude = 89, .longitude = 0}));
  EXPECT_EQ(sides(path_), std::pair(before.first + before.second, std::int64_t{0})) << "the sun of June does not set";
}

TEST_F(Forgotten, OfDaysWithoutHoursEachSideIsJudgedByItsBrightness) {
  record(path_, days(0, 2), session("camera 0", 600));
  const auto before = sides(path_);
  forget(path_, kMidnight + 2 * kDayMs, kDayMs);
  StoreWriter writer(path_);
  ASSERT_TRUE(writer.judge("camera 0", NightByBrightness{.night_below = 10, .day_above = 200}));
  EXPECT_EQ(sides(path_), before) << "between the borders of the band";
  ASSERT_TRUE(writer.judge("camera 0", NightByBrightness{.night_below = 50, .day_above = 60}));
  EXPECT_EQ(sides(path_), before);
  ASSERT_TRUE(writer.judge("camera 0", NightByBrightness{.night_below = 5, .day_above = 10}));
  EXPECT_EQ(sides(path_), std::pair(before.first + before.second, std::int64_t{0}));
}

// A day of UTC is all that is left. It lies in two days of this clock, and most of it in the later one.
TEST_F(Forgotten, DaysOfAClockBehindUtcAreThoseOfMostOfTheirTime) {
  record(path_, days(0, 4), session("camera 0", 600));
  forget(path_, kMidnight + 4 * kDayMs, kDayMs);
  const auto starts = [&](const std::string& zone) {
    std::vector<UnixMs> found;
    for (const RollupRow& row : StoreReader(path_).rollup({.series = 1,
                                .from = kMidnight,
                                .to = kMidnight + 4 * kDayMs,
                                .width = kDayMs,
                                .clock = vision::CameraClock(zone)})) {
      EXPECT_EQ(row.regions.at("").samples(), 144) << zone;
      found.push_back(row.start - kMidnight);
    }
    return found;
  };
  EXPECT_THAT(starts("-04:00"),
              ElementsAre(4 * kHourMs, kDayMs + 4 * kHourMs, 2 * kDayMs + 4 * kHourMs, 3 * kDayMs + 4 * kHourMs));
  EXPECT_THAT(starts("+09:00"),
              ElementsAre(-9 * kHourMs, 15 * kHourMs, kDayMs + 15 * kHourMs, 2 * kDayMs + 15 * kHourMs));
}

TEST_F(Forgotten, ASeriesEndsWithTheLastHourOrDayOfIt) {
  record(path_, days(0, 2), session("camera 0", 600));
  SessionInfo other = session("camera 0", 600);
  other.model_digest = "00000000000000b2";
  record(path_, days(3, 4), other);
  const auto end = [&] {
    const StoreReader store(path_);
    return store.endOf(store.sources()[0], 1) - kMidnight;
  };
  EXPECT_EQ(end(), 2 * kDayMs - 10 * kMinuteMs + 1);
  forget(path_, kMidnight + 3 * kDayMs, kHourMs);
  EXPECT_EQ(end(), 2 * kDayMs);
  forget(path_, kMidnight + 3 * kDayMs, kDayMs);
  EXPECT_EQ(end(), 2 * kDayMs);
}

// A board without a battery begins in 1970: its samples lie before all that was forgotten.
TEST_F(Forgotten, SamplesOfAClockThatWasNotSetChangeNoSum) {
  record(path_, days(0, 4), session("camera 0", 600));
  {
    Database database = openForWriting(path_, false);
    while (forgetSome(database, kMidnight + 4 * kDayMs, {.keep_days = 1.01, .source = 1}) == Retention::kMore) {
    }
  }
  std::vector<Sample> early;
  for (int minute = 0; minute < 7; ++minute) early.push_back(sampleAt(minute * kMinuteMs));
  record(path_, early, session("camera 0", 600));
  const auto all = [&] {
    std::int64_t drawn = 0;
    const StoreReader store(path_);
    for (const auto& bucket :
         store.chart({.source = 1, .from = kMidnight, .to = kMidnight + 4 * kDayMs, .series = {{.quantity = "tokens"}}})
             .buckets)
      drawn += bucket.values[0].samples;
    EXPECT_EQ(drawn, 4 * 144);
    return std::pair(sides(path_).first + sides(path_).second,
                     StoreReader(path_).rollup({.series = 1, .from = 0, .to = INT64_MAX, .width = kHourMs}).size());
  };
  const std::pair<std::int64_t, std::size_t> expected(4 * 144 + 7, 4 * 24 + 1);
  EXPECT_EQ(all(), expected);
  EXPECT_EQ(StoreReader(path_).count(1), 145 + 7);
  EXPECT_THAT(StoreReader(path_).outages(1, kMidnight, kMidnight + 4 * kDayMs), IsEmpty());
  ASSERT_TRUE(StoreWriter(path_).judge("camera 0", kNights));
  EXPECT_EQ(all(), expected);
  EXPECT_EQ(sides(path_).second, 4 * 11 * 6 + 7);
  // Earlier programs noted nothing, and had no index.
  for (const char* older : {"ALTER TABLE source DROP COLUMN kept_from", "DROP INDEX samples_of_days"}) {
    runSql(path_, older);
    EXPECT_EQ(StoreReader(path_).count(1), 145 + 7) << older;
    EXPECT_EQ(all(), expected) << older;
    ASSERT_TRUE(StoreWriter(path_).judge("camera 0", kNights));
    EXPECT_EQ(all(), expected) << older;
    EXPECT_EQ(StoreReader(path_).count(1), 145 + 7) << older;
  }
}

TEST_F(Forgotten, ACopyIsNoPartThoughOneOfBothForgotItsSamples) {
  const std::vector<Sample> all = days(0, 3);
  for (const int copied : {24 * 6, 3}) {  // samples; the last time within the first hour
    const std::string one = folder_ / ("one" + std::to_string(copied)),
                      copy = folder_ / ("copy" + std::to_string(copied));
    StoreWriter writer(one);
    writer.beginSession(session("camera 0", 600));
    for (int i = 0; i < copied; ++i) writer.append(all[i]);
    ASSERT_TRUE(writer.flush());
    runSql(one, "VACUUM INTO '" + copy + "'");
    for (std::size_t i = copied; i < all.size(); ++i) writer.append(all[i]);
    ASSERT_TRUE(writer.flush());
    forget(one, kMidnight + 2 * kDayMs, kHourMs);
    for (const auto& parts : {std::vector{one, copy}, std::vector{copy, one}}) {
      EXPECT_MPM_ERROR(mergeDatabases(parts, folder_ / "all.db"),
                       "holds what another part holds: samples of the hour from 2026-06-01T");
    }
  }
}

// A part that keeps all its samples, and a later one that forgot most of them.
TEST_F(Forgotten, PartsThatForgotHaveNoOutageThere) {
  const std::string first = folder_ / "1.db", second = folder_ / "2.db", whole = folder_ / "whole.db",
                    all = folder_ / "all.db";
  record(first, days(0, 3), session("camera 0", 600));
  record(second, days(4, 10), session("camera 0", 600));
  mergeDatabases({first, second}, whole);
  const UnixMs kept = kMidnight + 8 * kDayMs + 100 * kMinuteMs;
  forget(second, kept, kHourMs);
  mergeDatabases({second, first}, all);
  const StoreReader merged(all), expected(whole);
  const UnixMs end = kMidnight + 10 * kDayMs;

  const auto outages = merged.outages(1, 0, end);
  ASSERT_EQ(outages.size(), 1U);
  EXPECT_EQ(outages[0].begin, kMidnight + 3 * kDayMs);
  EXPECT_EQ(outages[0].end, kMidnight + 4 * kDayMs);
  EXPECT_EQ(merged.count(1), std::ssize(days(0, 3)) + std::ssize(days(8, 10)) - 10);
  EXPECT_EQ(merged.count(1, kMidnight + kDayMs, kept + kHourMs), std::ssize(days(1, 3)) + 6);
  // Hours, and rows that lie in hours; at the ends of what is kept both know it to the sample.
  const auto rows = [&](const StoreReader& store, UnixMs from, UnixMs to, std::int64_t width) {
    std::vector<std::pair<UnixMs, std::int64_t>> result;
    for (const RollupRow& row : store.rollup({.series = 1, .from = from, .to = to, .width = width}))
      result.emplace_back(row.start, row.regions.at("").samples());
    return result;
  };
  for (const std::int64_t width : {std::int64_t{0}, kHourMs, kDayMs}) {
    for (const auto& [from, to] : {std::pair(UnixMs{0}, end), std::pair(kMidnight + 5 * kDayMs, kMidnight + 7 * kDayMs),
                                   std::pair(kept + 30 * kMinuteMs, kMidnight + 9 * kDayMs + 20 * kMinuteMs)})
      EXPECT_EQ(rows(merged, from, to, width), rows(expected, from, to, width)) << from << " " << width;
  }
  const auto chart = [&](const StoreReader& store) {
    ChartQuery query{.source = 1, .from = kMidnight + 5 * kDayMs, .to = kMidnight + 7 * kDayMs};
    query.series = {{"tokens", "", ""}};
    return samplesIn(store.chart(query));
  };
  EXPECT_EQ(chart(merged), chart(expected));

  // The merged file is a part, too, and its sums are not made of what is left of its samples.
  mergeDatabases({all}, folder_ / "again.db");
  EXPECT_EQ(StoreReader(folder_ / "again.db").outages(1, 0, end).size(), 1U);
  const auto before = sides(all);
  ASSERT_TRUE(StoreWriter(all).judge("camera 0", kNights));
  EXPECT_EQ(sides(all), before);
}

}  // namespace
}  // namespace mpm::monitor::test
