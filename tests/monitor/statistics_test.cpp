// SPDX-License-Identifier: Apache-2.0
#include "monitor/statistics/day_night.h"

#include <map>

#include "support/matchers.h"

namespace mpm::monitor {
namespace {

constexpr UnixMs kMidnight = 1'780'272'000'000;  // 2026-06-01 00:00:00 UTC

// Frames of a second each, with day and night by the sun, all with the same tokens.
std::vector<HourOfTokens> bySun(UnixMs from, int days) {
  DayNight rule(NightBySun{.latitude = 52.5, .longitude = 13.4});
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
    const Difference difference = blocksOf(bySun(kMidnight + day * kDayMs, 30));
    EXPECT_EQ(difference.block, Difference::Block::kPeriod) << day;
    EXPECT_EQ(difference.day_blocks, 30) << day;
    EXPECT_EQ(difference.night_blocks, 31) << day << ": the first and the last night are cut";
    EXPECT_NEAR(difference.tokens, 10, 1e-9) << day;
  }
  const Difference year = blocksOf(bySun(kMidnight, 365));
  EXPECT_EQ(year.day_blocks, 365);
  EXPECT_EQ(year.night_blocks, 366);
}

TEST(Statistics, StrayFramesMakeNoDay) {
  std::vector<HourOfTokens> hours = bySun(kMidnight - 88 * kDayMs, 30);
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
