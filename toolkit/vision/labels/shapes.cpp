// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/shapes.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "base/size_text.h"

namespace mpm::vision {
namespace {

using Polygon = std::vector<cv::Point2d>;

// The part of the polygon whose `side` is not negative (Sutherland and Hodgman, 1974). `side` is linear.
template <class Side>
Polygon clipped(const Polygon& polygon, Side&& side) {
  Polygon kept;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const cv::Point2d &from = polygon[i == 0 ? polygon.size() - 1 : i - 1], &to = polygon[i];
    const double before = side(from), here = side(to);
    if ((before < 0) != (here < 0)) kept.push_back(from + (to - from) * (before / (before - here)));
    if (here >= 0) kept.push_back(to);
  }
  return kept;
}

// Only what is further outside than the picture is large: nearer, the slope of its edges would change by rounding.
Polygon nearPicture(Polygon polygon, cv::Size size) {
  const double margin = std::max(size.width, size.height), right = size.width + margin, bottom = size.height + margin;
  const auto is_near = [&](const cv::Point2d& p) {
    return p.x >= -margin && p.y >= -margin && p.x <= right && p.y <= bottom;
  };
  if (std::ranges::all_of(polygon, is_near)) return polygon;
  constexpr double kFar = 1e9;
  for (cv::Point2d& p : polygon) p = {std::clamp(p.x, -kFar, kFar), std::clamp(p.y, -kFar, kFar)};
  polygon = clipped(polygon, [&](const cv::Point2d& p) { return p.x + margin; });
  polygon = clipped(polygon, [&](const cv::Point2d& p) { return p.y + margin; });
  polygon = clipped(polygon, [&](const cv::Point2d& p) { return right - p.x; });
  return clipped(polygon, [&](const cv::Point2d& p) { return bottom - p.y; });
}

}  // namespace

int numberOfClass(const JsonValue& name, const std::vector<ClassInfo>& classes) {
  const std::string text = name.text();
  const auto found = std::ranges::find_if(classes, [&](const ClassInfo& one) { return one.name == text; });
  if (found == classes.end())
    throw Error(name.place() + " is the label '" + visibleText(text) + "', which is none of the classes");
  return static_cast<int>(found - classes.begin());
}

std::string sizesText(cv::Size labels, cv::Size picture) {
  const bool across = labels == cv::Size(picture.height, picture.width);
  return sizeText({labels.height, labels.width}) + ", its image is " + sizeText({picture.height, picture.width}) +
         (across ? ": labels lie over the picture as its EXIF rotates it; draw them there, or store it upright first "
                   "('exiftran -ai')"
                 : "");
}

void requireSize(cv::Size own, cv::Size picture, const JsonValue& of) {
  if (own != picture) throw Error(of.place() + " is for a picture of " + sizesText(own, picture));
}

void requireSize(const JsonValue& of, const char* width, const char* height, cv::Size picture) {
  const auto side = [&](const char* key, int other) {
    const auto own = of.find(key);
    return own && !own->json().is_null() ? own->integer(1, kMaxSide) : other;
  };
  requireSize({side(width, picture.width), side(height, picture.height)}, picture, of);
}

std::vector<cv::Point2d> pointsOf(const JsonValue& points, std::size_t least) {
  std::vector<cv::Point2d> all;
  for (const JsonValue& point : points.list(least)) {
    const auto xy = point.list(2, 2);
    all.emplace_back(xy[0].number(), xy[1].number());
  }
  return all;
}

cv::Mat maskOfRuns(const JsonValue& runs, cv::Size size) {
  cv::Mat mask(size, CV_8UC1, cv::Scalar(0));
  const auto total = static_cast<std::int64_t>(mask.total());
  std::int64_t at = 0;
  uchar value = 0;
  for (const JsonValue& run : runs.list()) {
    const std::int64_t end = at + run.whole(0, total - at);
    std::fill(mask.data + at, mask.data + end, value);
    at = end;
    value = ~value;
  }
  if (at != total) {
    throw Error(runs.place() + " covers " + std::to_string(at) + " of " + std::to_string(total) +
                " pixels: export it again");
  }
  return mask;
}

cv::Point labelPoint(const cv::Point2d& point) {
  static constexpr double kFar = 1e6;  // px
  const auto rounded = [](double value) { return static_cast<int>(std::lround(std::clamp(value, -kFar, kFar))); };
  return {rounded(point.x), rounded(point.y)};
}

bool fillPolygon(cv::Mat& labels, const std::vector<cv::Point2d>& polygon, int label) {
  std::vector<cv::Point> points;
  for (const cv::Point2d& point : nearPicture(polygon, labels.size()))
    if (const cv::Point next = labelPoint(point); points.empty() || next != points.back()) points.push_back(next);
  if (points.empty()) return true;
  // OpenCV sorts the edges of each row by exchanging neighbours: 3,300 of them in each of 2,000 rows took 4 s.
  constexpr double kMaxWork = 5e9;
  double crossings = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    crossings += std::abs(points[i].y - points[i == 0 ? points.size() - 1 : i - 1].y);
  if (crossings * crossings / labels.rows > kMaxWork) return false;
  cv::fillPoly(labels, std::vector<std::vector<cv::Point>>{points}, cv::Scalar(label));
  return true;
}

void fillPolygon(cv::Mat& labels, const std::vector<cv::Point2d>& polygon, int label, const JsonValue& of) {
  if (!fillPolygon(labels, polygon, label)) {
    throw Error(of.place() +
                " goes up and down too often for the outline of a thing: draw it again, or write a label map");
  }
}

}  // namespace mpm::vision
