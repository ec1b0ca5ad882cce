// SPDX-License-Identifier: Apache-2.0
#include "cli/pictures/svg_canvas.h"

#include <cstdio>

#include "cli/terminal/output.h"

namespace mpm::cli {
namespace {

std::string hex(std::uint32_t color) {
  char text[8];
  std::snprintf(text, sizeof text, "#%06x", color & 0xffffffu);
  return text;
}

std::string coordinates(const std::vector<cv::Point2d>& points) {
  std::string text;
  for (const cv::Point2d& point : points)
    text += (text.empty() ? "" : " ") + fixed(point.x, 1) + "," + fixed(point.y, 1);
  return text;
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string SvgCanvas::svg() const {
  const std::string width = std::to_string(size_.width), height = std::to_string(size_.height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height + "\" viewBox=\"0 0 " +
         width + " " + height + "\" font-family=\"sans-serif\" font-size=\"13\">\n" + body_ +
         (clipped_ ? "</g>\n" : "") + "</svg>\n";
}

// Fonts differ; this is the mean of a sans-serif one.
double SvgCanvas::textWidth(const std::string& text) const { return 7.0 * static_cast<double>(text.size()); }

void SvgCanvas::text(const std::string& text, cv::Point2d left_middle, std::uint32_t color) {
  body_ += "<text x=\"" + fixed(left_middle.x, 1) + "\" y=\"" + fixed(left_middle.y + 4.5, 1) + "\" fill=\"" +
           hex(color) + "\">" + escaped(text) + "</text>\n";
}

void SvgCanvas::line(const std::vector<cv::Point2d>& points, std::uint32_t color, double width) {
  if (points.size() == 1)
    body_ += "<circle cx=\"" + fixed(points[0].x, 1) + "\" cy=\"" + fixed(points[0].y, 1) + "\" r=\"" +
             fixed(width, 1) + "\" fill=\"" + hex(color) + "\"/>\n";
  else
    body_ += "<polyline points=\"" + coordinates(points) + "\" fill=\"none\" stroke=\"" + hex(color) +
             "\" stroke-width=\"" + fixed(width, 1) + "\"/>\n";
}

void SvgCanvas::area(const std::vector<cv::Point2d>& corners, std::uint32_t color, double opacity) {
  body_ += "<polygon points=\"" + coordinates(corners) + "\" fill=\"" + hex(color) + "\" fill-opacity=\"" +
           fixed(opacity, 2) + "\"/>\n";
}

void SvgCanvas::clip(const std::optional<cv::Rect2d>& rectangle) {
  if (clipped_) body_ += "</g>\n";
  clipped_ = rectangle.has_value();
  if (!rectangle) return;
  const std::string name = "clip" + std::to_string(clips_++);
  body_ += "<clipPath id=\"" + name + "\"><rect x=\"" + fixed(rectangle->x, 1) + "\" y=\"" + fixed(rectangle->y, 1) +
           "\" width=\"" + fixed(rectangle->width, 1) + "\" height=\"" + fixed(rectangle->height, 1) +
           "\"/></clipPath>\n<g clip-path=\"url(#" + name + ")\">\n";
}

}  // namespace mpm::cli
