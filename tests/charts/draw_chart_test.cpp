// SPDX-License-Identifier: Apache-2.0
#include "charts/draw_chart.h"
#include "charts/svg.h"
#include "support/local_zone.h"
#include "support/matchers.h"
#include "support/svg_number.h"

namespace mpm::charts {
namespace {

Chart chart(std::initializer_list<double> values, std::initializer_list<int> gaps = {}) {
  Chart result;
  result.bucket_ms = 1000;
  UnixMs i = 0;
  for (double value : values) {
    const bool gap = std::find(gaps.begin(), gaps.end(), i) != gaps.end();
    result.buckets.push_back({.start = 1000 * i,
                              .middle = 1000 * i + 500,
                              .samples = 1,
                              .gap_before = gap,
                              .values = {{1, value, value - 1, value + 1}}});
    ++i;
  }
  return result;
}

TimeAxis axis(double from, double to) { return {.from = from, .to = to, .width = 1000}; }

using Zone = test::LocalZone;
constexpr const char* kBerlin = "CET-1CEST,M3.5.0,M10.5.0/3";

std::vector<std::string> labels(const TimeAxis& axis, double spacing, const char* format = "%a %d %b %H:%M") {
  std::vector<std::string> texts;
  for (const TimeTick& tick : timeTicks(axis, spacing, {})) texts.push_back(timeText(tick.time, {}, format));
  return texts;
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

TEST(TimeTicks, AreRoundAndFarEnoughApart) {
  for (const OptionalClock& clock : {OptionalClock(), OptionalClock(vision::CameraClock())}) {
    for (const double span :
         {30.0, 600.0, 3600.0, 86400.0, 7 * 86400.0, 200 * 86400.0, 3000 * 86400.0, 190 * 365 * 86400.0}) {
      const Zone zone(kBerlin);
      const TimeAxis time = axis(1.7e9, 1.7e9 + span);
      const auto ticks = timeTicks(time, 90, clock);
      ASSERT_GE(ticks.size(), 2U) << span;
      for (std::size_t i = 1; i < ticks.size(); ++i)
        EXPECT_GE(time.x(ticks[i].time) - time.x(ticks[i - 1].time), 75) << span;
      for (const auto& tick : ticks) {
        if (span >= 3600) {
          EXPECT_EQ(timeText(tick.time, clock, "%S"), "00");
        }
        if (span >= 7 * 86400.0) {
          EXPECT_EQ(timeText(tick.time, clock, "%M"), "00");
        }
      }
    }
  }
}

TEST(TimeTicks, FillTheAxisAtAnyHour) {
  const Zone zone(kBerlin);
  constexpr double kDay = 1792879200;  // 2026-10-25 00:00 in Berlin, a day of 25 hours
  for (int minute = 0; minute < 25 * 60 - 1; minute += 7) {
    const double from = kDay + minute * 60 + 0.5;
    const TimeAxis time = axis(from, from + 60);
    const auto ticks = timeTicks(time, 90, {});
    ASSERT_GE(ticks.size(), 3U) << minute;
    const double step = ticks[1].time - ticks[0].time;
    EXPECT_LT(ticks.front().time - from, step) << minute;
    EXPECT_GE(ticks.front().time, from);
    EXPECT_LT(from + 60 - ticks.back().time, step) << minute;
    EXPECT_LE(ticks.back().time, from + 60);
    for (std::size_t i = 1; i < ticks.size(); ++i) EXPECT_EQ(ticks[i].time - ticks[i - 1].time, step) << minute;
  }
}

TEST(TimeTicks, StandAtMidnightsOfTheClockWhenItChanges) {
  const Zone zone(kBerlin);
  constexpr double kSaturday = 1792792800;  // 2026-10-24 00:00 in Berlin
  EXPECT_THAT(labels(axis(kSaturday, kSaturday + 3 * 86400), 160, "%a %H:%M"),
              ElementsAre("Sat 00:00", "Sat 12:00", "Sun 00:00", "Sun 12:00", "Mon 00:00", "Mon 12:00"));
  EXPECT_THAT(labels(axis(kSaturday, kSaturday + 21 * 86400), 300, "%a %d"), ElementsAre("Mon 26", "Mon 02", "Mon 09"));
  EXPECT_THAT(labels(axis(kSaturday, kSaturday + 300 * 86400), 250, "%d %b %Y"),
              ElementsAre("01 Jan 2027", "01 Apr 2027", "01 Jul 2027"));
  constexpr double kSpring = 1774738800;  // 2026-03-29 00:00 in Berlin, a day without the hour from 2
  EXPECT_THAT(labels(axis(kSpring, kSpring + 4 * 3600), 240, "%H"), ElementsAre("00", "01", "03", "04", "05"));
  const auto ticks = timeTicks(axis(kSaturday, kSaturday + 3 * 86400), 160, {});
  EXPECT_TRUE(ticks[2].major && ticks[2].unit == TimeTick::Unit::kDay);
  EXPECT_TRUE(!ticks[3].major && ticks[3].unit == TimeTick::Unit::kMinute);
}

TEST(ValueTicks, AreRoundAndInside) {
  EXPECT_THAT(valueTicks(312, 498, 5), ElementsAre(350, 400, 450));
  EXPECT_THAT(valueTicks(0, 1, 2), ElementsAre(0, 0.5, 1));
  EXPECT_THAT(valueTicks(0, 457, 2), ElementsAre(0, 200, 400)) << "0 and 500 leave 0 alone";
  EXPECT_THAT(valueTicks(620, 790, 1), ElementsAre(650, 700, 750)) << "no scale without a second number";
  EXPECT_THAT(valueTicks(0.3, 1.3, 1), ElementsAre(0.5, 1)) << "the finest step";
  EXPECT_EQ(valueTicks(0, 0.3, 3).size(), 4U) << "three times 0.1 is more than 0.3";
}

TEST(SeriesShape, GapsStayGaps) {
  const auto data = chart({5, 6, 7, 8, 9, 10}, {3, 5});
  const SeriesShape shape = seriesShape(data, 0, axis(0, 6), {0, 12, 0, 120});
  ASSERT_EQ(shape.lines.size(), 3U);
  EXPECT_EQ(shape.lines[0].size(), 3U);
  EXPECT_EQ(shape.lines[1].size(), 2U);
  EXPECT_EQ(shape.lines[2].size(), 1U) << "one bucket between two gaps is still seen";
  ASSERT_EQ(shape.bands.size(), 2U);
  EXPECT_EQ(shape.bands[0].size(), 6U);
  EXPECT_NEAR(shape.lines[0][0].y, 70, 1e-9);
  EXPECT_NEAR(shape.bands[0][0].y, 60, 1e-9) << "the band begins at the maximum";
}

TEST(SeriesShape, SparseValuesAreJoined) {
  auto data = chart({5, 6, 7, 8}, {3});
  data.buckets[1].values[0].samples = 0;
  const auto lines = [&](bool sparse) { return seriesShape(data, 0, axis(0, 4), {0, 12, 0, 120}, sparse).lines; };
  EXPECT_EQ(lines(false).size(), 3U);
  ASSERT_EQ(lines(true).size(), 2U) << "nothing was recorded in the gap";
  EXPECT_EQ(lines(true)[0].size(), 2U);
}

TEST(ValueAxis, HoldsWhatIsOnShow) {
  const ValueAxis all = fittingAxis(chart({500, 510, 900}), 0, 1, axis(0, 3), 4);
  EXPECT_LT(all.low, 499);
  EXPECT_GT(all.high, 901);
  const ValueAxis part = fittingAxis(chart({500, 510, 900}), 0, 1, axis(0, 2), 4);
  EXPECT_LT(part.high, 600);
  const ValueAxis flat = fittingAxis(chart({500}), 0, 1, axis(0, 2), 10);
  EXPECT_GE(flat.high - flat.low, 10);
  EXPECT_EQ(fittingAxis(chart({3, 8}), 0, 1, axis(0, 3), 1).low, 0) << "counts near zero begin there";
  EXPECT_LT(fittingAxis(chart({-20, -10}), 0, 1, axis(0, 3), 1).low, -21) << "values below zero do not";
  Chart deep = chart({500, 510});
  deep.buckets[1].values[0].min = 400;
  EXPECT_LT(fittingAxis(deep, 0, 1, axis(0, 3), 4).low, 400);
}

TEST(NightStretches, OfASparseArchiveCoverNoDays) {
  Chart weekly{.bucket_ms = kHourMs, .buckets = {}};
  for (int week = 0; week < 3; ++week) weekly.buckets.push_back({.start = week * 7 * kDayMs, .samples = 1, .night = 1});
  const auto nights = nightStretches(weekly, axis(0, 14 * 86400));
  ASSERT_EQ(nights.size(), 3u);
  for (const NightStretch& night : nights)
    EXPECT_NEAR((night.right - night.left) / nights[1].left, 1 / (7 * 24.), 1e-6);
  Chart hours{.bucket_ms = kMinuteMs, .buckets = {}};
  for (int hour = 0; hour < 4; ++hour) hours.buckets.push_back({.start = hour * 3 * kHourMs, .samples = 1, .night = 1});
  EXPECT_EQ(nightStretches(hours, axis(0, 86400)).size(), 1u) << "a night with a picture every three hours";
}

TEST(NightStretches, AreNoneWhereABucketHoldsADayAndANight) {
  Chart days{.bucket_ms = 6 * kHourMs, .buckets = {}};
  for (int i = 0; i < 8; ++i) days.buckets.push_back({.start = i * days.bucket_ms, .samples = 6, .night = 0.5});
  EXPECT_TRUE(nightStretches(days, axis(0, 2 * 86400)).empty());
  days.bucket_ms -= kMinuteMs;
  EXPECT_FALSE(nightStretches(days, axis(0, 2 * 86400)).empty());
}

TEST(NightStretches, ReachToTheNextBucketUnlessThereIsAGap) {
  auto data = chart({1, 1, 1, 1, 1});
  data.buckets[1].night = data.buckets[2].night = data.buckets[4].night = 1;
  const auto nights = nightStretches(data, axis(0, 5));
  ASSERT_EQ(nights.size(), 2U);
  EXPECT_NEAR(nights[0].left, 200, 1e-9);
  EXPECT_NEAR(nights[0].right, 600, 1e-9);
  data.buckets[2].gap_before = true;
  EXPECT_EQ(nightStretches(data, axis(0, 5)).size(), 3U);
  data.buckets[2].gap_before = false;
  data.bucket_ms = 10;  // samples one by one
  EXPECT_NEAR(nightStretches(data, axis(0, 5))[0].right, 600, 1e-9);
  data.buckets[2].night = 0.5;
  EXPECT_EQ(nightStretches(data, axis(0, 5)).size(), 3U) << "twilight is a stretch of its own";
}

TEST(NearestBucket, IsTheOneWhoseMiddleIsNearest) {
  const auto data = chart({1, 2, 3});
  EXPECT_EQ(nearestBucket(data, -100), 0);
  EXPECT_EQ(nearestBucket(data, 1.4), 1);
  EXPECT_EQ(nearestBucket(data, 1.6), 1) << "behind its middle";
  EXPECT_EQ(nearestBucket(data, 2.1), 2);
  EXPECT_EQ(nearestBucket({}, 2), -1);
}

/// Letters are 7 px wide and a line 14 px high.
class NotedCanvas : public ChartCanvas {
 public:
  double textWidth(const std::string& text) const override { return 7.0 * static_cast<double>(text.size()); }
  double textHeight() const override { return 14; }
  void text(const std::string& text, cv::Point2d left_middle, std::uint32_t) override {
    texts.push_back(text);
    places.push_back(left_middle);
  }
  void line(const std::vector<cv::Point2d>& points, std::uint32_t color, double) override {
    lines[color].push_back(points);
  }
  void area(const std::vector<cv::Point2d>& corners, std::uint32_t color, double opacity) override {
    if (color == ChartColors{}.night) nights.emplace_back(corners, opacity);
    areas.push_back(corners);
    fills.emplace_back(color, opacity);
  }
  void clip(const std::optional<cv::Rect2d>&) override {}

  std::vector<std::string> texts;
  std::vector<cv::Point2d> places;  // of the texts
  std::map<std::uint32_t, std::vector<std::vector<cv::Point2d>>> lines;
  std::vector<std::pair<std::vector<cv::Point2d>, double>> nights;
  std::vector<std::vector<cv::Point2d>> areas;
  std::vector<std::pair<std::uint32_t, double>> fills;  // of the areas
};

/// Six seconds; the second series is ten times the first.
struct DrawnChart : ::testing::Test {
  DrawnChart() {
    drawing.chart = chart({10, 20, 30, 20, 10, 10}, {3});
    for (ChartBucket& bucket : drawing.chart.buckets) {
      const Spread& first = bucket.values[0];
      bucket.values.push_back({1, 10 * first.mean, 10 * first.min, 10 * first.max});
    }
    drawing.chart.buckets[4].night = 1;
    drawing.series = {{.name = "tokens"}, {.name = "area", .unit = "%"}};
    drawing.clock = vision::CameraClock();
    drawing.axis.to = 6;
  }
  NotedCanvas draw() {
    NotedCanvas canvas;
    plot = plotArea(canvas, size, !drawing.title.empty());
    drawing.axis.left = plot.x;
    drawing.axis.width = plot.width;
    drawChart(drawing, size, canvas);
    return canvas;
  }
  /// A stretch of the strip at the bottom: from and to in x, colour and opacity.
  struct Stretch {
    double from, to;
    std::pair<std::uint32_t, double> fill;
  };
  std::vector<Stretch> strip(const NotedCanvas& canvas) const {
    std::vector<Stretch> stretches;
    for (std::size_t i = 0; i < canvas.areas.size(); ++i) {
      const std::vector<cv::Point2d>& corners = canvas.areas[i];
      if (corners[0].y > plot.br().y - 28) stretches.push_back({corners[0].x, corners[2].x, canvas.fills[i]});
    }
    return stretches;
  }
  cv::Size2d size{640, 320};
  ChartDrawing drawing;
  cv::Rect2d plot;
};

TEST_F(DrawnChart, EachSeriesHasItsLaneAndEndsAtTheGap) {
  const NotedCanvas canvas = draw();
  const auto& first = canvas.lines.at(drawing.colors.series[0]);
  const auto& second = canvas.lines.at(drawing.colors.series[1]);
  ASSERT_EQ(first.size(), 2U);
  ASSERT_EQ(first[0].size(), 3U);
  EXPECT_NEAR(first[0][1].x, plot.x + plot.width * 1.5 / 6, 1e-9) << "the middle of the second bucket";
  EXPECT_NEAR(first[0][1].y, (first[0][0].y + first[0][2].y) / 2, 1e-9) << "20 lies between 10 and 30";
  const double middle = plot.y + plot.height / 2;
  for (const auto& line : first)
    for (const cv::Point2d& point : line) EXPECT_LT(point.y, middle);
  for (const auto& line : second)
    for (const cv::Point2d& point : line) EXPECT_GT(point.y, middle);
  EXPECT_THAT(canvas.texts, ::testing::IsSupersetOf({"tokens", "area (%)", "00:00:02", "20", "200"}));
}

TEST_F(DrawnChart, ASeriesOfAClassHasItsColour) {
  drawing.series[1].color = 0x123456;
  const NotedCanvas canvas = draw();
  EXPECT_TRUE(canvas.lines.contains(0x123456));
  EXPECT_FALSE(canvas.lines.contains(drawing.colors.series[1]));
}

TEST_F(DrawnChart, AStateEndsWhereTheNextBegins) {
  drawing.bands = {{"gate", {{0, "open"}, {1000, "shut"}, {4500, ""}}}};
  std::vector<double> ends;  // in tenths of seconds
  for (const Stretch& stretch : strip(draw()))
    for (const double x : {stretch.from, stretch.to}) ends.push_back(std::round(10 * drawing.axis.time(x)));
  EXPECT_THAT(ends, ElementsAre(0, 10, 10, 30, 30, 45));
}

TEST_F(DrawnChart, OutagesAreDrawnWhereThereAreNoSamples) {
  const auto seconds = [&](bool over_gaps) {
    drawing.bands = {{.name = "outages", .changes = {{0, "gap"}, {4500, ""}}, .over_gaps = over_gaps}};
    drawing.chart.buckets = {drawing.chart.buckets.front()};
    double width = 0;
    for (const Stretch& stretch : strip(draw())) width += stretch.to - stretch.from;
    return width / plot.width * (drawing.axis.to - drawing.axis.from);
  };
  EXPECT_NEAR(seconds(true), 4.5, 0.1);
  EXPECT_LT(seconds(false), 2) << "a state is not known there";
}

TEST_F(DrawnChart, EachOutageIsNamedInItsColour) {
  ChartBand& band = drawing.bands.emplace_back(ChartBand{.name = "outages", .over_gaps = true});
  std::vector<std::string> causes;
  for (int i = 0; i < 6; ++i) {
    causes.push_back("cause " + std::to_string(i));
    band.changes.emplace_back(1000 * i, causes.back());
    band.changes.emplace_back(1000 * i + 1, "");
  }
  const NotedCanvas canvas = draw();
  EXPECT_THAT(canvas.texts, ::testing::IsSupersetOf(causes)) << "beside the strip: there is no room within";
  std::map<std::pair<std::uint32_t, double>, int> uses;
  for (std::size_t i = 0; i < canvas.areas.size(); ++i)
    if (canvas.areas[i][0].y > plot.br().y - 60) ++uses[canvas.fills[i]];
  EXPECT_EQ(std::ranges::count(uses, 2, [](const auto& one) { return one.second; }), 6)
      << "in the strip and at the name; more causes than colours differ in their strength";
  for (const auto& [fill, count] : uses) EXPECT_LE(count == 2 ? fill.second : 0, 0.451) << "a name on it can be read";
}

TEST_F(DrawnChart, StatesAreNamedAboveTheirStripUnlessItHasRoom) {
  ChartBand band{
      .name = "gate", .changes = {{0, "open"}, {1000, "shut"}, {4500, ""}}, .known = {"ajar", "open", "shut"}};
  drawing.bands = {band};
  const auto count = [&](const NotedCanvas& canvas, const char* name) {
    return std::ranges::count(canvas.texts, name);
  };
  NotedCanvas canvas = draw();
  EXPECT_EQ(count(canvas, "open"), 1) << "in its stretch";
  EXPECT_EQ(count(canvas, "shut"), 2) << "before and behind the gap";
  band.changes = {{0, "open"}, {1900, "shut"}, {2000, "open"}};
  drawing.bands = {band};
  canvas = draw();
  EXPECT_EQ(count(canvas, "shut"), 1) << "which is too short for its name";
  EXPECT_EQ(count(canvas, "open"), 4) << "beside it, and in its stretches";
  EXPECT_EQ(count(canvas, "ajar"), 0) << "which does not occur";
  band.changes.clear();
  for (UnixMs i = 0; i < 60; ++i) band.changes.emplace_back(100 * i, i % 2 == 0 ? "open" : "shut");
  drawing.bands = {band};
  EXPECT_THAT(draw().texts, ::testing::IsSupersetOf({"open", "shut"}));
}

TEST_F(DrawnChart, APictureHasNamesWithoutTheirAccents) {
  const auto picture = [&](const char* name) {
    drawing.series[0].name = name;
    return chartPicture(drawing);
  };
  EXPECT_EQ(cv::norm(picture("Éteints ça"), picture("Eteints ca"), cv::NORM_INF), 0);
  EXPECT_GT(cv::norm(picture("éteints"), picture("teints"), cv::NORM_INF), 0);
}

// They stand below each other.
TEST_F(DrawnChart, OutagesHaveOtherColoursThanStates) {
  std::set<std::pair<std::uint32_t, double>> fills;
  for (const bool over_gaps : {false, true}) {
    drawing.bands = {{.name = "strip", .changes = {{0, "a"}, {1000, "b"}, {2000, ""}}, .over_gaps = over_gaps}};
    for (const Stretch& stretch : strip(draw())) fills.insert(stretch.fill);
  }
  EXPECT_THAT(fills, SizeIs(4));
}

TEST_F(DrawnChart, NamesOfSeriesStayWithinIt) {
  drawing.one_lane = true;
  drawing.series.clear();
  for (int i = 0; i < 5; ++i) drawing.series.push_back({.name = std::to_string(i) + " é" + std::string(30, 'x')});
  for (ChartBucket& bucket : drawing.chart.buckets) bucket.values.resize(5, bucket.values.front());
  const auto ends = [&](const NotedCanvas& canvas) {
    double most = 0;
    for (std::size_t i = 0; i < canvas.texts.size(); ++i) {
      if (canvas.texts[i].find("xx") != std::string::npos)
        most = std::max(most, canvas.places[i].x + canvas.textWidth(canvas.texts[i]));
    }
    return most;
  };
  NotedCanvas canvas = draw();
  for (const ChartSeries& series : drawing.series)
    EXPECT_THAT(canvas.texts, Contains(series.name)) << "in several rows";
  EXPECT_LE(ends(canvas), plot.br().x);
  size.height = 90;
  canvas = draw();
  EXPECT_LE(ends(canvas), plot.br().x);
  EXPECT_THAT(canvas.texts, Contains("2 ...")) << "cut between two characters";
  EXPECT_THAT(canvas.texts, Not(Contains(drawing.series[2].name)));
}

// As wide as a phone.
TEST_F(DrawnChart, ANarrowChartNamesEachOutageToo) {
  size.width = 320;
  ChartBand& band = drawing.bands.emplace_back(ChartBand{.name = "outages", .over_gaps = true});
  std::vector<std::string> causes;
  for (const char* cause : {"no samples", "damaged pictures", "dark", "covered or fogged", "stuck", "too slow"}) {
    causes.emplace_back(cause);
    band.changes.emplace_back(1000 * causes.size(), causes.back());
  }
  const NotedCanvas canvas = draw();
  EXPECT_THAT(canvas.texts, ::testing::IsSupersetOf(causes));
  for (const auto& corners : canvas.areas)
    for (const cv::Point2d& corner : corners) EXPECT_LE(corner.x, size.width);
}

// Another stretch of time shows fewer of them, another language orders their names in another way.
TEST_F(DrawnChart, AStateKeepsItsColourWhereOthersDoNotOccur) {
  const auto fillOf = [&](const std::vector<std::string>& shown) {
    ChartBand band{.name = "outages", .over_gaps = true, .known = {"gap", "damaged", "dark"}};
    for (UnixMs time = 0; const std::string& state : shown) band.changes.emplace_back(time++ * 1000, state);
    band.changes.emplace_back(4500, "");
    drawing.bands = {band};
    const NotedCanvas canvas = draw();
    for (const std::string& one : band.known)
      EXPECT_EQ(std::ranges::count(canvas.texts, one) > 0, std::ranges::count(shown, one) > 0) << one;
    for (const Stretch& stretch : strip(canvas))
      if (drawing.axis.time(stretch.to) > 4) return stretch.fill;
    return NotedCanvas().fills.at(0);
  };
  EXPECT_EQ(fillOf({"dark"}), fillOf({"gap", "damaged", "dark"}));
  EXPECT_NE(fillOf({"dark"}), fillOf({"gap"}));
}

TEST_F(DrawnChart, AStripCostsNoMoreThanItsColumns) {
  for (const bool over_gaps : {true, false}) {
    ChartBand band{.name = "gate", .over_gaps = over_gaps};
    for (UnixMs time = 0; time < 6000; ++time)
      band.changes.emplace_back(time, std::array{"open", "", "shut"}[time % 3]);
    drawing.bands = {band};
    std::map<std::uint32_t, double> widths;
    const std::vector<Stretch> stretches = strip(draw());
    for (const Stretch& stretch : stretches) widths[stretch.fill.first] += stretch.to - stretch.from;
    EXPECT_LE(stretches.size(), 2 * plot.width) << "of 4000 stretches";
    EXPECT_THAT(widths, SizeIs(2));
    for (const auto& [color, width] : widths) EXPECT_NEAR(width, plot.width, 2);
  }
}

TEST_F(DrawnChart, NamesOfLowLanesStandOneBehindTheOther) {
  for (int i = 0; i < 6; ++i) drawing.series.push_back({.name = "more"});
  for (ChartBucket& bucket : drawing.chart.buckets) bucket.values.resize(8, bucket.values.front());
  const NotedCanvas canvas = draw();
  std::vector<double> heights;  // of the values
  for (const cv::Point2d& place : canvas.places)
    if (place.x < plot.x - 6 && place.y <= plot.br().y) heights.push_back(place.y);
  std::ranges::sort(heights);
  EXPECT_GE(heights.size(), 8U);
  for (std::size_t i = 1; i < heights.size(); ++i) EXPECT_GE(heights[i] - heights[i - 1], 14);
  drawing.bands.resize(4);  // leave less than a line to each
  const NotedCanvas low = draw();
  double expected = plot.x + 12;
  for (const char* name : {"tokens", "area (%)", "more", "more", "more", "more", "more", "more"}) {
    std::set<double> places;
    for (std::size_t i = 0; i < low.texts.size(); ++i)
      if (low.texts[i] == name) places.insert(low.places[i].x);
    EXPECT_THAT(places, Contains(::testing::DoubleNear(expected, 1e-6))) << name;
    expected += low.textWidth(name) + 24;
    if (expected - 6 >= plot.x + plot.width * 2 / 3) expected = plot.x + 12;  // the last third has room for no name
  }
  EXPECT_EQ(expected, plot.x + 12 + low.textWidth("more") + 24) << "the last name begins at the left again";
}

TEST_F(DrawnChart, ALabelIsNoNegativeZero) {
  const NotedCanvas canvas;
  EXPECT_EQ(canvas.label(-1e-12, 0), "0");
  EXPECT_EQ(canvas.label(-0.04, 1), "0.0");
  EXPECT_EQ(canvas.label(-0.06, 1), "-0.1");
}

TEST_F(DrawnChart, SeriesOfOneLaneShareTheirAxis) {
  drawing.one_lane = true;
  const NotedCanvas canvas = draw();
  const auto &low = canvas.lines.at(drawing.colors.series[0])[0], &high = canvas.lines.at(drawing.colors.series[1])[0];
  EXPECT_NEAR((high[0].y - high[2].y), 10 * (low[0].y - low[2].y), 1e-9) << "ten times as much is ten times as high";
}

TEST_F(DrawnChart, NightsAreShadedAndALegendComesWithATitle) {
  NotedCanvas canvas = draw();
  ASSERT_EQ(canvas.nights.size(), 1U);
  EXPECT_NEAR(canvas.nights[0].first[0].x, plot.x + plot.width * 4 / 6, 1);
  EXPECT_NEAR(canvas.nights[0].first[1].x, plot.x + plot.width * 5 / 6, 1);
  EXPECT_EQ(canvas.nights[0].second, 1);
  EXPECT_THAT(canvas.texts, Not(Contains("night")));
  drawing.title = "A street";
  canvas = draw();
  EXPECT_THAT(canvas.texts, ::testing::IsSupersetOf({"A street", "night", "lowest to highest",
                                                     "1 Jan 1970 00:00 to 1 Jan 1970 00:00 UTC"}));
  drawing.chart.bucket_ms = kDayMs;
  EXPECT_THAT(draw().texts, Not(Contains("night"))) << "a day has no shade, so there is nothing to explain";
}

TEST_F(DrawnChart, ANarrowChartHasItsTitleAndNoLegendOverIt) {
  drawing.title = std::string(76, 'x');
  EXPECT_THAT(draw().texts, AllOf(Contains(drawing.title), Not(Contains("night")), Not(Contains("lowest to highest"))));
  drawing.title = std::string(60, 'x');
  EXPECT_THAT(draw().texts, AllOf(Contains("night"), Not(Contains("lowest to highest")))) << "what has room is there";
}

TEST_F(DrawnChart, ItsSpanNamesItsClock) {
  const NotedCanvas canvas;
  const Zone zone("Asia/Kathmandu");
  const auto label = [&](const OptionalClock& clock) {
    return canvas.label(axis(1'790'986'200, 1'790'989'800), clock);
  };
  EXPECT_EQ(label(vision::CameraClock("Europe/Paris")), "3 Oct 2026 02:10 to 3 Oct 2026 03:10 Europe/Paris");
  EXPECT_EQ(label(vision::CameraClock("-03:30")), "2 Oct 2026 20:40 to 2 Oct 2026 21:40 UTC-03:30");
  EXPECT_EQ(label({}), "3 Oct 2026 05:55 to 3 Oct 2026 06:55 Asia/Kathmandu") << "that of this machine";
}

// A picture and an SVG of one chart have the same lines.
TEST_F(DrawnChart, AsSvgItHasTheSameLines) {
  drawing.series[0].name = "<b>\"&\x1b";
  drawing.title = "A \xff street";
  const std::string svg = chartSvg(drawing, {640, 320});
  EXPECT_THAT(svg, AllOf(HasSubstr("&lt;b&gt;&quot;&amp;\\x1b"), HasSubstr("<title>A \\xff street</title>"),
                         HasSubstr("width=\"640\" height=\"320\"")));
  const auto number = [&](const std::string& name) { return test::svgNumber(svg, name); };
  EXPECT_EQ(std::pair(number("from"), number("to")), std::pair(0., 6000.));
  const double second = (number("right") - number("left")) / 6;
  const std::string line = "<polyline points=\"" + std::to_string(number("left") + second / 2).substr(0, 4);
  EXPECT_THAT(svg, HasSubstr(line)) << "the middle of the first second";
  const auto count = [&](const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = svg.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count("stroke=\"#1f62c4\""), 2u) << "the first series, before and behind the gap";
  EXPECT_EQ(count("<g "), count("</g>"));
  EXPECT_EQ(count("<clipPath"), count("</clipPath>"));
  EXPECT_EQ(count("style"), 0u) << "a page may forbid styles of others";
}

TEST_F(DrawnChart, LabelsEndWithTheUnitOfTheTick) {
  using Unit = TimeTick::Unit;
  const double third_of_october = 1'790'986'210;  // 2026-10-03T00:10:10Z
  const auto label = [&](Unit unit) {
    return NotedCanvas().label(TimeTick{third_of_october, unit}, vision::CameraClock());
  };
  EXPECT_EQ(label(Unit::kSecond), "00:10:10");
  EXPECT_EQ(label(Unit::kMinute), "00:10");
  EXPECT_EQ(label(Unit::kDay), "Sat 3 Oct");
  EXPECT_EQ(label(Unit::kMonth), "Oct 2026");
  EXPECT_EQ(label(Unit::kYear), "2026");
}

TEST_F(DrawnChart, ANoteStandsInsteadOfValues) {
  drawing.note = "No samples in this stretch of time";
  EXPECT_EQ(draw().lines.count(drawing.colors.series[0]), 0U);
  drawing.axis.to = 6;
  EXPECT_THAT(draw().texts, Contains(drawing.note));
  drawing.chart.buckets.clear();
  drawing.series.clear();
  EXPECT_THAT(draw().texts, Contains(drawing.note)) << "nothing to draw is no error";
}

}  // namespace
}  // namespace mpm::charts
