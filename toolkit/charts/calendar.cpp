// SPDX-License-Identifier: Apache-2.0
#include "charts/calendar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace mpm::charts {
namespace {

constexpr double kBlock = 300, kGap = 18;  // px: the least width of a month, and what lies between two
constexpr double kHead = 24;               // the name of a month
constexpr double kBetween = 3;             // cells
constexpr double kStrip = 5;               // the colour below a picture
constexpr double kShape = 0.62;            // height of a picture by its width
constexpr double kKey = 30;                // the colours and their values, at the bottom
constexpr int kDays = 7, kWeeks = 6;

// Viridis: apart to colour-blind eyes and in grey, on light and dark ground.
constexpr std::array<std::uint32_t, 5> kColors = {0x440154, 0x3b528b, 0x21918c, 0x5ec962, 0xfde725};

std::uint32_t colorOf(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * (kColors.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), kColors.size() - 2);
  std::uint32_t color = 0;
  for (const int shift : {16, 8, 0}) {
    const auto part = [&](std::uint32_t of) { return static_cast<double>(of >> shift & 0xff); };
    const double mixed =
        part(kColors[below]) + (at - static_cast<double>(below)) * (part(kColors[below + 1]) - part(kColors[below]));
    color |= static_cast<std::uint32_t>(std::lround(mixed)) << shift;
  }
  return color;
}

std::pair<double, double> rangeOf(const CalendarDrawing& calendar) {
  std::optional<std::pair<double, double>> range;
  for (const DayCell& day : calendar.days) {
    if (day.value) {
      range = {std::min(range ? range->first : *day.value, *day.value),
               std::max(range ? range->second : *day.value, *day.value)};
    }
  }
  return range.value_or(std::pair(0.0, 0.0));
}

UnixMs startOfMonth(const vision::CameraClock& clock, UnixMs time, int months) {
  const vision::CivilTime civil = vision::civilTime(clock.wall(time));
  return clock.time(vision::wallTime({.year = civil.year, .month = civil.month + months}));
}

}  // namespace

CalendarLayout layoutOf(const CalendarDrawing& calendar, double width) {
  const int columns = std::max(1, static_cast<int>((width + kGap) / (kBlock + kGap)));
  const double block = (width - (columns - 1) * kGap) / columns, cell = (block - (kDays - 1) * kBetween) / kDays;
  const double height = kShape * cell + kStrip, high = kHead + kWeeks * (height + kBetween);
  CalendarLayout layout;
  layout.days.resize(calendar.days.size());
  auto next = calendar.days.begin();
  int number = 0;
  for (UnixMs month = startOfMonth(calendar.clock, calendar.from, 0); month < calendar.to; ++number) {
    const UnixMs after = startOfMonth(calendar.clock, month, 1);
    const cv::Point2d corner(number % columns * (block + kGap), number / columns * (high + kGap));
    layout.months.emplace_back(
        corner + cv::Point2d(0, kHead / 2),
        calendar.month ? calendar.month(month) : timeText(static_cast<double>(month) / 1000, calendar.clock, "%B %Y"));
    // 1970 began on a Thursday.
    const auto first = (calendar.clock.wall(month) / kDayMs + 3) % kDays;
    int date = 0;
    for (UnixMs day = month; day < after; day = calendar.clock.startOfDay(day, 1), ++date) {
      const auto place = first + date;
      const cv::Rect2d box(corner.x + static_cast<double>(place % kDays) * (cell + kBetween),
                           corner.y + kHead + static_cast<double>(place / kDays) * (height + kBetween), cell, height);
      const UnixMs end = calendar.clock.startOfDay(day, 1);
      while (next != calendar.days.end() && next->start < day) ++next;
      if (next != calendar.days.end() && next->start < end)
        layout.days[static_cast<std::size_t>(next - calendar.days.begin())] = box;
      else
        layout.others.push_back(box);
    }
    month = after;
  }
  const int rows = (number + columns - 1) / columns;
  layout.size = {width, rows * (high + kGap) + kKey};
  return layout;
}

cv::Rect2d pictureIn(const cv::Rect2d& cell) { return {cell.x, cell.y, cell.width, cell.height - kStrip}; }

void drawCalendar(const CalendarDrawing& calendar, const CalendarLayout& layout, ChartCanvas& canvas) {
  const auto [low, high] = rangeOf(calendar);
  for (const auto& [place, name] : layout.months) canvas.text(name, place, calendar.colors.text);
  for (const cv::Rect2d& box : layout.others) canvas.area(cornersOf(box), calendar.colors.grid, 0.5);
  for (std::size_t i = 0; i < calendar.days.size(); ++i) {
    const DayCell& day = calendar.days[i];
    const cv::Rect2d box = layout.days[i], picture = pictureIn(box);
    if (!day.picture.empty() || !day.value) canvas.area(cornersOf(picture), calendar.colors.grid, 1);
    if (!day.value) continue;
    const cv::Rect2d strip(box.x, picture.br().y, box.width, kStrip);
    canvas.area(cornersOf(day.picture.empty() ? box : strip),
                colorOf(high > low ? (*day.value - low) / (high - low) : 0.5), 1);
  }
  if (std::ranges::none_of(calendar.days, [](const DayCell& day) { return day.value.has_value(); })) return;
  constexpr int kColorSteps = 40;
  constexpr double kWide = 3;
  const double middle = layout.size.height - kKey / 2;
  const auto textOf = [&](double value) {
    return canvas.label(value, calendar.decimals) + (calendar.unit.empty() ? "" : " " + calendar.unit);
  };
  const std::string least = textOf(low);
  double x = 0;
  canvas.text(least, {x, middle}, calendar.colors.muted);
  x += canvas.textWidth(least) + 6;
  // Each step reaches to the end, below those that follow: between two that only touch, the ground shows as a hairline.
  const double end = x + kColorSteps * kWide;
  for (int i = 0; i < kColorSteps; ++i, x += kWide)
    canvas.area(cornersOf({x, middle - 5, end - x, 10}), colorOf((i + 0.5) / kColorSteps), 1);
  canvas.text(textOf(high), {end + 6, middle}, calendar.colors.muted);
}

}  // namespace mpm::charts
