// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <QDateTime>

#include "gui/models/chart_lane.h"

namespace mpm::gui {
namespace {

monitor::Chart chart(std::initializer_list<double> values, std::initializer_list<int> gaps = {}) {
  monitor::Chart result;
  result.bucket_ms = 1000;
  int i = 0;
  for (double value : values) {
    monitor::ChartBucket bucket;
    bucket.start = 1000 * i;
    bucket.samples = 1;
    bucket.values = {{1, value, value - 1, value + 1}};
    bucket.gap_before = std::find(gaps.begin(), gaps.end(), i) != gaps.end();
    result.buckets.push_back(bucket);
    ++i;
  }
  return result;
}

TimeAxis axis(double from, double to) {
  TimeAxis result;
  result.from = from;
  result.to = to;
  result.width = 1000;
  return result;
}

TEST(TimeAxis, ZoomKeepsTheTimeUnderTheMouse) {
  const TimeAxis before = axis(1000, 5000);
  const TimeAxis after = before.zoomedAt(250, 4);
  EXPECT_NEAR(after.time(250), before.time(250), 1e-9);
  EXPECT_NEAR(after.to - after.from, 1000, 1e-9);
  const TimeAxis limit = before.zoomedAt(500, 1e12);
  EXPECT_NEAR(limit.to - limit.from, TimeAxis::kShortest, 1e-6);
  const TimeAxis panned = before.pannedBy(250);
  EXPECT_NEAR(panned.from, 0, 1e-9);
}

TEST(TimeAxis, TicksAreRoundAndFarEnoughApart) {
  for (const double span : {30.0, 600.0, 3600.0, 86400.0, 7 * 86400.0, 200 * 86400.0, 3000 * 86400.0}) {
    const TimeAxis time = axis(1.7e9, 1.7e9 + span);
    const auto ticks = time.ticks(90);
    ASSERT_GE(ticks.size(), 2U) << span;
    for (std::size_t i = 1; i < ticks.size(); ++i)
      EXPECT_GE(time.x(ticks[i].time) - time.x(ticks[i - 1].time), 75) << span;
    for (const auto& tick : ticks) {
      EXPECT_FALSE(tick.label.isEmpty());
      const QTime clock = QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(tick.time * 1000)).time();
      if (span >= 3600) {
        EXPECT_EQ(clock.second(), 0);
      }
      if (span >= 7 * 86400.0) {
        EXPECT_TRUE(clock.minute() == 0);
      }
    }
  }
}

TEST(TimeAxis, TicksFillTheAxisAtAnyHour) {
  const QDate day(2026, 11, 20);
  for (int minute = 0; minute < 24 * 60 - 1; minute += 7) {
    const double from = static_cast<double>(day.startOfDay().toSecsSinceEpoch()) + minute * 60 + 0.5;
    const TimeAxis time = axis(from, from + 60);
    const auto ticks = time.ticks(90);
    ASSERT_GE(ticks.size(), 3U) << minute;
    const double step = ticks[1].time - ticks[0].time;
    EXPECT_LT(ticks.front().time - from, step) << minute;
    EXPECT_GE(ticks.front().time, from);
    EXPECT_LT(from + 60 - ticks.back().time, step) << minute;
    EXPECT_LE(ticks.back().time, from + 60);
    for (std::size_t i = 1; i < ticks.size(); ++i) EXPECT_EQ(ticks[i].time - ticks[i - 1].time, step) << minute;
  }
}

TEST(ValueTicks, AreRoundAndInside) {
  const auto ticks = valueTicks(312, 498, 5);
  EXPECT_EQ(ticks, (std::vector<double>{350, 400, 450}));
  EXPECT_EQ(valueTicks(0, 1, 2), (std::vector<double>{0, 0.5, 1}));
}

TEST(ChartLane, GapsStayGaps) {
  const auto data = chart({5, 6, 7, 8, 9, 10}, {3, 5});
  const LaneShape shape = laneShape(data, 0, axis(0, 6), {0, 12, 0, 120});
  ASSERT_EQ(shape.lines.size(), 2U);
  EXPECT_EQ(shape.lines[0].size(), 3);
  EXPECT_EQ(shape.lines[1].size(), 2);
  EXPECT_EQ(shape.points.size(), 1U) << "one bucket between two gaps is still seen";
  EXPECT_EQ(shape.bands[0].size(), 6);
  EXPECT_NEAR(shape.lines[0][0].y(), 70, 1e-9);
  EXPECT_NEAR(shape.bands[0][0].y(), 60, 1e-9) << "the band begins at the maximum";
}

TEST(ChartLane, AxisHoldsWhatIsOnShow) {
  const ValueAxis all = fittingAxis(chart({500, 510, 900}), 0, axis(0, 3), 4);
  EXPECT_LT(all.low, 499);
  EXPECT_GT(all.high, 901);
  const ValueAxis part = fittingAxis(chart({500, 510, 900}), 0, axis(0, 2), 4);
  EXPECT_LT(part.high, 600);
  const ValueAxis flat = fittingAxis(chart({500}), 0, axis(0, 2), 10);
  EXPECT_GE(flat.high - flat.low, 10);
  EXPECT_EQ(fittingAxis(chart({3, 8}), 0, axis(0, 3), 1).low, 0) << "counts near zero begin there";
}

TEST(ChartLane, NightsAreStretches) {
  auto data = chart({1, 1, 1, 1, 1});
  data.buckets[1].night = data.buckets[2].night = data.buckets[4].night = 1;
  const auto nights = nightStretches(data, axis(0, 5));
  ASSERT_EQ(nights.size(), 2U);
  EXPECT_NEAR(nights[0].first, 200, 1e-9);
  EXPECT_NEAR(nights[0].second, 600, 1e-9);
  data.buckets[2].gap_before = true;
  EXPECT_EQ(nightStretches(data, axis(0, 5)).size(), 3U);
}

TEST(ChartLane, NearestBucket) {
  const auto data = chart({1, 2, 3});
  EXPECT_EQ(nearestBucket(data, -100), 0);
  EXPECT_EQ(nearestBucket(data, 1.4), 1);
  EXPECT_EQ(nearestBucket(data, 2.1), 2);
  EXPECT_EQ(nearestBucket({}, 2), -1);
}

TEST(SpanText, ReadsLikeASpan) {
  EXPECT_EQ(spanText(3.25), QStringLiteral("3.3 s"));
  EXPECT_EQ(spanText(200), QStringLiteral("3 min 20 s"));
  EXPECT_EQ(spanText(7500), QStringLiteral("2 h 05 min"));
  EXPECT_EQ(spanText(90000), QStringLiteral("1 d 1 h"));
}

}  // namespace
}  // namespace mpm::gui
