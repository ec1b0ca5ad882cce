// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <random>

#include "monitor/statistics/day_night.h"
#include "support/matchers.h"

namespace mpm::monitor {
namespace {

constexpr UnixMs kMidnight = 1'780'272'000'000;  // 2026-06-01 00:00:00 UTC

// Hours of days (06-18) and nights; each day and night has a mean of its own, hours scatter around it.
std::vector<HourOfTokens> simulate(int days, double difference, double between, double within, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<HourOfTokens> hours;
  double level[2] = {};
  for (int hour = 0; hour < days * 24; ++hour) {
    const bool night = hour % 24 < 6 || hour % 24 >= 18;
    if (hour % 24 == 6 || hour == 0) level[0] = between * normal(random);
    if (hour % 24 == 18 || hour == 0) level[1] = between * normal(random);
    std::map<double, std::int64_t> occurrences;
    for (int i = 0; i < 20; ++i)
      ++occurrences[std::round(10 * (400 + (night ? difference : 0) + level[night] + within * normal(random))) / 10];
    hours.push_back({kMidnight + hour * kHourMs, night, {occurrences.begin(), occurrences.end()}});
  }
  return hours;
}

TEST(Statistics, AFirstDayCountsHoursAndTheirCorrelation) {
  const auto hours = simulate(1, 15, 0, 6, 5);
  const auto independent = compareDayNight(hours, kMidnight + kDayMs);
  ASSERT_TRUE(independent.difference && independent.difference->plus_minus);
  EXPECT_EQ(independent.difference->block, Difference::Block::kHour);
  EXPECT_EQ(independent.difference->day_blocks, 12);

  // The same hour means, sorted so that neighbours are alike: less is known.
  std::vector<double> means;
  for (const HourOfTokens& hour : hours)
    if (!hour.night) means.push_back(summarize({hour.occurrences.begin(), hour.occurrences.end()}).mean);
  std::sort(means.begin(), means.end());
  std::vector<HourOfTokens> trend;
  for (std::size_t i = 0; i < means.size(); ++i) {
    trend.push_back({kMidnight + static_cast<UnixMs>(6 + i) * kHourMs, false, {{means[i], 20}}});
    trend.push_back({kMidnight + static_cast<UnixMs>(18 + i) * kHourMs, true, {{means[(i * 5) % 12], 20}}});
  }
  const auto correlated = compareDayNight(trend, kMidnight + 2 * kDayMs);
  ASSERT_TRUE(correlated.difference->plus_minus);
  std::swap(trend[0].occurrences, trend[10].occurrences);
  std::swap(trend[4].occurrences, trend[18].occurrences);
  std::swap(trend[8].occurrences, trend[20].occurrences);
  const auto mixed = compareDayNight(trend, kMidnight + 2 * kDayMs);
  EXPECT_GT(*correlated.difference->plus_minus, 1.3 * *mixed.difference->plus_minus);
}

TEST(Statistics, SinceYesterdayComparesTwoTimes24WholeHours) {
  std::vector<HourOfTokens> hours;
  for (int hour = 0; hour < 72; ++hour) hours.push_back({kMidnight + hour * kHourMs, false, {{hour * hour, 1}}});
  // The mean of (h + 24)^2 - h^2 for h from 24 to 47.
  EXPECT_DOUBLE_EQ(compareDayNight(hours, kMidnight + 3 * kDayMs).day_change.value(), 2280);
}

// Frames of a second each, with day and night by the sun, all with the same tokens.
std::vector<HourOfTokens> bySun(double latitude, UnixMs from, int days, double longitude = 13.4) {
  DayNight rule(NightBySun{.latitude = latitude, .longitude = longitude});
  std::vector<HourOfTokens> hours;
  for (UnixMs start = from; start < from + days * kDayMs; start += kHourMs) {
    std::int64_t samples[2] = {};
    for (UnixMs time = start; time < start + kHourMs; time += 5 * kMinuteMs) samples[*rule.night(time, 0)] += 300;
    for (const bool night : {false, true})
      if (samples[night] > 0) hours.push_back({start, night, {{400 + (night ? 10 : 0), samples[night]}}});
  }
  return hours;
}

Difference blocksOf(const std::vector<HourOfTokens>& hours) {
  return *compareDayNight(hours, hours.back().start + kHourMs).difference;
}

TEST(Statistics, AMonthHasThirtyDaysInAnySeason) {
  for (int day : {-88, -22, 4, 24, 30, 150}) {  // after 1 June: 5 March, 10 May, 5 June, 25 June, 1 July, 29 October
    const Difference difference = blocksOf(bySun(52.5, kMidnight + day * kDayMs, 30));
    EXPECT_EQ(difference.block, Difference::Block::kPeriod) << day;
    EXPECT_EQ(difference.day_blocks, 30) << day;
    EXPECT_EQ(difference.night_blocks, 31) << day << ": the first and the last night are cut";
    EXPECT_NEAR(difference.tokens, 10, 1e-9) << day;
  }
  const Difference year = blocksOf(bySun(52.5, kMidnight, 365));
  EXPECT_EQ(year.day_blocks, 365);
  EXPECT_EQ(year.night_blocks, 366);
}

TEST(Statistics, DaysAreBlocksFromThreeDaysOn) {
  EXPECT_EQ(blocksOf(bySun(52.5, kMidnight, 2)).block, Difference::Block::kHour);
  const Difference three = blocksOf(bySun(52.5, kMidnight, 3));
  EXPECT_EQ(three.block, Difference::Block::kPeriod);
  EXPECT_EQ(three.day_blocks, 3);
}

TEST(Statistics, AMonthHasThirtyDaysAtAnyLongitude) {
  for (const int longitude : {-165, -90, 90, 165}) {
    const UnixMs local_midnight = kMidnight - longitude / 15 * kHourMs;
    const Difference difference = blocksOf(bySun(52.5, local_midnight - 88 * kDayMs, 30, longitude));
    EXPECT_EQ(difference.day_blocks, 30) << longitude;
    EXPECT_EQ(difference.night_blocks, 31) << longitude;
  }
}

TEST(Statistics, APolarDayIsAsManyDaysAsItLasts) {
  const Difference tromso = blocksOf(bySun(69, kMidnight, 365));
  EXPECT_EQ(tromso.day_blocks, 366) << "even midwinter has its twilight; the first and the last day are cut";
  EXPECT_NEAR(tromso.night_blocks, 264, 5) << "from May to mid August the sun is never 6 degrees below the horizon";
  const Difference svalbard = blocksOf(bySun(78, kMidnight, 365));
  EXPECT_NEAR(svalbard.day_blocks, 287, 5);
  EXPECT_NEAR(svalbard.night_blocks, 210, 5);
}

TEST(Statistics, StrayFramesMakeNoDay) {
  std::vector<HourOfTokens> hours = bySun(52.5, kMidnight - 88 * kDayMs, 30);
  std::map<UnixMs, int> sides;
  for (const HourOfTokens& hour : hours) ++sides[hour.start];
  for (std::size_t i = 0, count = hours.size(); i < count; ++i)
    if (hours[i].night && sides[hours[i].start] == 1) hours.push_back({hours[i].start, false, {{500, 3}}});
  const Difference difference = blocksOf(hours);
  EXPECT_EQ(difference.block, Difference::Block::kPeriod);
  EXPECT_EQ(difference.day_blocks, 30);
  EXPECT_EQ(difference.night_blocks, 31);
  EXPECT_LT(*difference.plus_minus, 0.1) << "and do not blur the days that there are";
}

}  // namespace
}  // namespace mpm::monitor
