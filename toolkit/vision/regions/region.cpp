// SPDX-License-Identifier: Apache-2.0
#include "vision/regions/region.h"

#include <algorithm>
#include <limits>
#include <opencv2/imgproc.hpp>
#include <set>
#include <utility>

#include "base/atomic_file.h"
#include "base/number_text.h"
#include "base/size_text.h"
#include "base/visible_text.h"
#include "mpm/error.hpp"
#include "vision/labels/shapes.h"

namespace mpm::vision {
namespace {

std::string called(const Region& region) { return "region '" + visibleText(region.name) + "'"; }

std::string text(cv::Size size) { return sizeText({size.height, size.width}); }

bool hasArea(const std::vector<cv::Point2d>& polygon) {
  std::vector<cv::Point2f> points(polygon.begin(), polygon.end()), hull;
  cv::convexHull(points, hull);
  return cv::contourArea(hull) >= 0.5;
}

void checkOne(const Region& region) {
  if (region.name.empty()) throw Error("a region has no name: give each a name");
  if (region.size.empty()) throw Error(called(region) + " has no size: give the size of its picture");
  if (region.mask.empty() == region.polygons.empty())
    throw Error(called(region) + " has no area: give it polygons or a mask, one of both");
  if (region.from && region.to && *region.from >= *region.to)
    throw Error(called(region) + " ends at " + isoTime(*region.to) + ", before it begins");
  if (!region.mask.empty()) {
    if (region.mask.type() != CV_8UC1 || region.mask.size() != region.size)
      throw Error("the mask of " + called(region) + " is " + text(region.mask.size()) + ", its picture " +
                  text(region.size) + ": give a mask of the picture's size");
    if (cv::countNonZero(region.mask) == 0) throw Error(called(region) + " has no area: nothing is inside its mask");
    return;
  }
  for (const auto& polygon : region.polygons)
    for (const cv::Point2d& p : polygon)
      if (!(p.x >= -1 && p.y >= -1 && p.x <= region.size.width && p.y <= region.size.height))
        throw Error(called(region) + " reaches out of its picture of " + text(region.size) + " at x " +
                    numberText(p.x) + ", y " + numberText(p.y) + ": keep it inside");
  if (std::ranges::none_of(region.polygons, hasArea))
    throw Error(called(region) + " has no area: a polygon has three points or more, not on one line");
}

}  // namespace

cv::Mat maskOf(const Region& region, cv::Size picture) {
  if (!region.mask.empty()) {
    if (region.mask.size() != picture)
      throw Error("the mask of " + called(region) + " is " + text(region.mask.size()) + ", the picture " +
                  text(picture) + ": give a mask of the picture's size, or polygons");
    return region.mask != 0;
  }
  cv::Mat mask(picture, CV_8UC1, cv::Scalar(0));
  const double right = static_cast<double>(picture.width) / region.size.width,
               down = static_cast<double>(picture.height) / region.size.height;
  for (std::vector<cv::Point2d> polygon : region.polygons) {
    for (cv::Point2d& p : polygon) p = {(p.x + 0.5) * right - 0.5, (p.y + 0.5) * down - 0.5};
    if (!fillPolygon(mask, polygon, 255))
      throw Error(called(region) + " goes up and down too often: draw it again, or give a mask");
  }
  return mask;
}

void writeRegions(const std::string& path, const std::vector<Region>& regions) {
  Json list = Json::array();
  for (const Region& region : regions) list.push_back(toJson(region));
  writeFileAtomically(path, Json{{"regions", std::move(list)}}.dump() + "\n");
}

std::vector<std::string> namesOf(const std::vector<Region>& regions) {
  std::set<std::string> names;
  for (const Region& region : regions) names.insert(region.name);
  return {names.begin(), names.end()};
}

void check(const std::vector<Region>& regions) {
  for (const Region& region : regions) checkOne(region);
  std::vector<const Region*> sorted;
  for (const Region& region : regions) sorted.push_back(&region);
  constexpr UnixMs kAlways = std::numeric_limits<UnixMs>::min();
  const auto key = [&](const Region* one) { return std::pair(one->name, one->from.value_or(kAlways)); };
  std::ranges::stable_sort(sorted, [&](const Region* a, const Region* b) { return key(a) < key(b); });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const Region &before = *sorted[i - 1], &after = *sorted[i];
    if (before.name != after.name || (before.to && after.from && *before.to <= *after.from)) continue;
    const auto time = after.from ? after.from : before.from;
    throw Error(time ? "two regions '" + visibleText(after.name) + "' are valid at " + isoTime(*time) +
                           ": let one end before the next begins"
                     : "two regions have the name '" + visibleText(after.name) + "': give each its own");
  }
}

}  // namespace mpm::vision
