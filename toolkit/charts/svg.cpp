// SPDX-License-Identifier: Apache-2.0
#include "charts/svg.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "base/number_text.h"
#include "base/visible_text.h"
#include "charts/calendar.h"

namespace mpm::charts {
namespace {

constexpr double kLetters = 12, kLine = 17;

// A place in px, to a tenth.
std::string number(double value) { return numberText(std::round(std::clamp(value, -1e9, 1e9) * 10) / 10 + 0.0); }

std::string colorText(std::uint32_t color) {
  char text[16];
  return {text, static_cast<std::size_t>(std::snprintf(text, sizeof text, "#%06x", color & 0xffffff))};
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : visibleText(text, std::string::npos)) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '"') {
      result += "&quot;";
    } else {
      result += c;
    }
  }
  return result;
}

// The letters of a browser are not known here: those of common sans-serif fonts, rather wider than narrower.
double widthOf(std::string_view text) {
  double ems = 0;
  for (const char c : text) {
    if ((c & 0xc0) == 0x80) continue;  // of a letter that was counted with its first byte
    if (std::string_view("iljtfI.,:;|!'()[] -").find(c) != std::string_view::npos) {
      ems += 0.34;
    } else if (std::string_view("mwMW@%").find(c) != std::string_view::npos) {
      ems += 0.92;
    } else {
      ems += c >= 'A' && c <= 'Z' ? 0.68 : 0.6;
    }
  }
  return ems * kLetters;
}

class SvgCanvas final : public ChartCanvas {
 public:
  double textWidth(const std::string& text) const override { return widthOf(text); }
  double textHeight() const override { return kLine; }

  void text(const std::string& text, cv::Point2d left_middle, std::uint32_t color) override {
    add("<text x=\"" + number(left_middle.x) + "\" y=\"" + number(left_middle.y + 0.36 * kLetters) + "\" fill=\"" +
        colorText(color) + "\">" + escaped(text) + "</text>");
  }

  void line(const std::vector<cv::Point2d>& points, std::uint32_t color, double width) override {
    if (points.empty()) return;
    if (points.size() == 1) {
      return add("<circle cx=\"" + number(points[0].x) + "\" cy=\"" + number(points[0].y) + "\" r=\"" +
                 number(1.5 * width) + "\" fill=\"" + colorText(color) + "\"/>");
    }
    add("<polyline points=\"" + listOf(points) + "\" fill=\"none\" stroke=\"" + colorText(color) +
        "\" stroke-width=\"" + number(width) + "\" stroke-linejoin=\"round\"/>");
  }

  void area(const std::vector<cv::Point2d>& corners, std::uint32_t color, double opacity) override {
    const std::string share =
        opacity < 1 ? " fill-opacity=\"" + numberText(std::round(opacity * 1000) / 1000) + "\"" : "";
    add("<polygon points=\"" + listOf(corners) + "\" fill=\"" + colorText(color) + "\"" + share + "/>");
  }

  void clip(const std::optional<cv::Rect2d>& rectangle) override {
    if (clipped_) body_ += "</g>\n";
    clipped_ = rectangle.has_value();
    if (!rectangle) return;
    const std::string id = "clip" + std::to_string(++clips_);
    add("<clipPath id=\"" + id + "\"><rect x=\"" + number(rectangle->x) + "\" y=\"" + number(rectangle->y) +
        "\" width=\"" + number(rectangle->width) + "\" height=\"" + number(rectangle->height) + "\"/></clipPath>");
    add("<g clip-path=\"url(#" + id + ")\">");
  }

  // `attributes`: of the root.
  std::string document(cv::Size2d size, const std::string& attributes, const std::string& title) {
    clip({});
    const std::string width = number(size.width), height = number(size.height);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height +
           "\" viewBox=\"0 0 " + width + " " + height + "\" role=\"img\"" + attributes +
           " font-family=\"system-ui, sans-serif\" font-size=\"" + number(kLetters) + "\">\n" +
           (title.empty() ? "" : "<title>" + escaped(title) + "</title>\n") + body_ + "</svg>\n";
  }

  std::string document(cv::Size2d size, const TimeAxis& axis, const cv::Rect2d& plot, const std::string& title) {
    std::string head;
    const auto data = [&](const char* name, double value) {
      head += std::string(" data-") + name + "=\"" + number(value) + "\"";
    };
    head += " data-from=\"" + milliseconds(axis.from) + "\" data-to=\"" + milliseconds(axis.to) + "\"";
    data("left", plot.x);
    data("right", plot.br().x);
    data("top", plot.y);
    data("bottom", plot.br().y);
    return document(size, head, title);
  }

  void add(const std::string& element) { body_ += element + "\n"; }

 private:
  static std::string milliseconds(double seconds) {
    return std::to_string(std::llround(std::clamp(seconds, -1e14, 1e14) * kSecondMs));
  }
  static std::string listOf(const std::vector<cv::Point2d>& points) {
    std::string list;
    for (const cv::Point2d& point : points) list += (list.empty() ? "" : " ") + number(point.x) + "," + number(point.y);
    return list;
  }

  std::string body_{};
  bool clipped_ = false;
  int clips_ = 0;
};

}  // namespace

std::string chartSvg(ChartDrawing chart, cv::Size2d size) {
  SvgCanvas canvas;
  const cv::Rect2d plot = plotArea(canvas, size, !chart.title.empty());
  chart.axis.left = plot.x;
  chart.axis.width = plot.width;
  if (chart.chart.buckets.empty()) {
    chart.note = "no samples in this period";
    chart.series.clear();
  }
  drawChart(chart, size, canvas);
  return canvas.document(size, chart.axis, plot, chart.title);
}

std::string calendarSvg(const CalendarDrawing& calendar, double width) {
  SvgCanvas canvas;
  const CalendarLayout layout = layoutOf(calendar, width);
  drawCalendar(calendar, layout, canvas);
  const auto placed = [](const cv::Rect2d& box) {
    return " x=\"" + number(box.x) + "\" y=\"" + number(box.y) + "\" width=\"" + number(box.width) + "\" height=\"" +
           number(box.height) + "\"";
  };
  for (std::size_t i = 0; i < calendar.days.size(); ++i) {
    const DayCell& day = calendar.days[i];
    std::string group =
        "<g class=\"day\" data-start=\"" + std::to_string(day.start) + "\" data-text=\"" + escaped(day.text) + "\"";
    if (!day.picture.empty()) group += " data-taken=\"" + std::to_string(day.taken) + "\"";
    group += "><title>" + escaped(day.text) + "</title>";
    if (!day.picture.empty()) {
      group += "<image href=\"" + escaped(day.picture) + "\" preserveAspectRatio=\"xMidYMid slice\"" +
               placed(pictureIn(layout.days[i])) + "/>";
    }
    canvas.add(group + "<rect fill=\"none\" pointer-events=\"all\"" + placed(layout.days[i]) + "/></g>");
  }
  return canvas.document(layout.size, "", "");
}

}  // namespace mpm::charts
