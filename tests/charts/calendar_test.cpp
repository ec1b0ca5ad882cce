// SPDX-License-Identifier: Apache-2.0
#include "charts/calendar.h"

#include <gmock/gmock.h>

#include <cmath>
#include <regex>

namespace mpm::charts {
namespace {

using ::testing::HasSubstr;

UnixMs at(const char* time) { return vision::timeOfIso(time).value(); }

CalendarDrawing spring(const vision::CameraClock& clock) {
  CalendarDrawing calendar{.from = at("2026-02-10T12:00:00Z"), .to = at("2026-04-01T00:00:00Z"), .clock = clock};
  for (const char* day : {"2026-03-01T12:00:00Z", "2026-03-29T12:00:00Z", "2026-03-30T12:00:00Z"}) {
    calendar.days.push_back(
        {.start = clock.startOfDay(at(day)), .value = 10.0 * static_cast<double>(calendar.days.size())});
  }
  return calendar;
}

// February of 2026 has four weeks from a Sunday to a Saturday; March began on a Sunday, too.
TEST(Calendar, MonthsAreWeeksThatBeginOnMonday) {
  const vision::CameraClock paris("Europe/Paris");
  CalendarDrawing calendar = spring(paris);
  calendar.to = paris.startOfDay(at("2026-04-01T00:00:00Z"));
  for (const double width : {330.0, 1000.0}) {
    const CalendarLayout layout = layoutOf(calendar, width);
    ASSERT_EQ(layout.months.size(), 2u) << "also the month that begins before the first moment";
    EXPECT_EQ(layout.months[0].second, "February 2026");
    EXPECT_EQ(layout.days.size() + layout.others.size(), 28u + 31u) << "the day of 23 hours is one";
    EXPECT_EQ(layout.months[1].first.y > layout.months[0].first.y, width < 500);
    EXPECT_EQ(layout.size.width, width);
    const cv::Rect2d first = layout.days[0], sunday = layout.days[1], monday = layout.days[2];
    EXPECT_NEAR(first.x, sunday.x, 1e-9) << "both are Sundays";
    EXPECT_NEAR(monday.x, layout.months[1].first.x, 1e-9);
    EXPECT_GT(monday.y, sunday.y);
    EXPECT_NEAR(sunday.y - first.y, 4 * (monday.y - sunday.y), 1e-9);
    for (const cv::Rect2d& box : layout.days) EXPECT_LE(box.br().x, width + 1e-9);
    for (const cv::Rect2d& box : layout.others) EXPECT_LT(box.br().y, layout.size.height);
  }
}

TEST(Calendar, TheLeastAndTheLargestValueHaveTheEndsOfTheColours) {
  CalendarDrawing calendar = spring({});
  calendar.unit = "%";
  calendar.days[1].picture = "p?a=1&b=2";
  calendar.days[1].taken = 7;
  calendar.days[2].text = "<b>\"last\"</b>";
  const std::string svg = calendarSvg(calendar, 400);
  for (const char* part : {"fill=\"#440154\"", "fill=\"#21918c\"", "fill=\"#fde725\"", ">0 %<", ">20 %<",
                           "data-taken=\"7\"", "href=\"p?a=1&amp;b=2\"", "&lt;b&gt;&quot;last&quot;"})
    EXPECT_THAT(svg, HasSubstr(part));
  EXPECT_LT(svg.find("#440154"), svg.find("#21918c")) << "the days are drawn in their order";
  EXPECT_LT(svg.find("#21918c"), svg.find("#fde725"));
  // The colours of the key are 10 px high and lie over each other, so that nothing shows between two of them.
  const std::regex step(
      "<polygon points=\"([0-9.]+),([0-9.]+) ([0-9.]+),\\2 \\3,([0-9.]+) \\1,\\4\" fill=\"#[0-9a-f]*\"/>");
  double before = 0;
  int steps = 0;
  for (std::sregex_iterator found(svg.begin(), svg.end(), step), none; found != none; ++found) {
    const auto number = [&](int part) { return std::stod((*found)[static_cast<std::size_t>(part)]); };
    if (std::abs(number(4) - number(2) - 10) > 0.2) continue;  // of a day
    if (++steps > 1) {
      EXPECT_GT(before, number(1));
    }
    before = number(3);
  }
  EXPECT_EQ(steps, 40);
  calendar.days.resize(1);
  EXPECT_THAT(calendarSvg(calendar, 400), HasSubstr("#21918c")) << "one value lies in the middle";
  calendar.days[0].value.reset();
  EXPECT_THAT(calendarSvg(calendar, 400), Not(HasSubstr("#21918c")));
}

}  // namespace
}  // namespace mpm::charts
