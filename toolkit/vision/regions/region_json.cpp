// SPDX-License-Identifier: Apache-2.0
#include "vision/regions/region_json.h"

#include <cmath>
#include <filesystem>
#include <utility>

#include "base/visible_text.h"
#include "mpm/error.hpp"
#include "vision/labels/labelled_picture.h"
#include "vision/labels/shapes.h"
#include "vision/times/written_time.h"

namespace mpm::vision {
namespace {

Json runsOf(const cv::Mat& mask) {
  Json runs = Json::array();
  std::int64_t length = 0;
  bool inside = false;
  for (int y = 0; y < mask.rows; ++y)
    for (int x = 0; x < mask.cols; ++x, ++length)
      if ((mask.at<uchar>(y, x) != 0) != inside) {
        runs.push_back(std::exchange(length, 0));
        inside = !inside;
      }
  runs.push_back(length);
  return runs;
}

// A number without the digits that no drawing has.
Json shortNumber(double value) {
  const double rounded = std::round(value * 100) / 100;
  return rounded == std::floor(rounded) ? Json(static_cast<std::int64_t>(rounded)) : Json(rounded);
}

std::optional<UnixMs> timeIn(const JsonValue& json, const char* key) {
  const auto value = json.find(key);
  if (!value || value->json().is_null()) return std::nullopt;
  const auto time = timeOfIso(value->text());
  if (!time) value->fail("a time such as 2026-11-03T17:04:05Z");
  return time;
}

}  // namespace

Json toJson(const Region& region) {
  Json json = {{"name", region.name}, {"width", region.size.width}, {"height", region.size.height}};
  if (region.ignore) json["ignore"] = true;
  if (region.from) json["from"] = isoTime(*region.from, true);
  if (region.to) json["to"] = isoTime(*region.to, true);
  if (!region.mask.empty()) {
    json["mask"] = runsOf(region.mask);
    return json;
  }
  Json& polygons = json["polygons"] = Json::array();
  for (const auto& polygon : region.polygons) {
    Json points = Json::array();
    for (const cv::Point2d& point : polygon) points.push_back({shortNumber(point.x), shortNumber(point.y)});
    polygons.push_back(std::move(points));
  }
  return json;
}

Region regionFromJson(const JsonValue& json, const std::string& folder) {
  Region region;
  region.name = json.at("name").text();
  if (const auto ignore = json.find("ignore")) region.ignore = ignore->flag();
  region.from = timeIn(json, "from");
  region.to = timeIn(json, "to");
  const auto mask = json.find("mask");
  if (mask && mask->json().is_string() && !folder.empty()) {
    region.mask = readMask(folder, mask->text());
    region.size = region.mask.size();
    if (!json.has("width") && !json.has("height")) return region;
  }
  region.size = {json.at("width").integer(1, kMaxRegionSide), json.at("height").integer(1, kMaxRegionSide)};
  if (mask && region.mask.empty()) region.mask = maskOfRuns(*mask, region.size);
  if (const auto polygons = json.find("polygons"))
    for (const JsonValue& polygon : polygons->list()) region.polygons.push_back(pointsOf(polygon, 3));
  return region;
}

cv::Mat readMask(const std::string& folder, const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(name).lexically_normal();
  if (name.empty() || path.is_absolute() || *path.begin() == "..")
    throw Error("mask '" + visibleText(name) + "' does not lie in the folder of its file, '" + folder +
                "': put the picture there");
  cv::Mat picture = readStoredImage((folder / path).string()), brightest;
  cv::reduce(picture.reshape(1, static_cast<int>(picture.total())), brightest, 1, cv::REDUCE_MAX);
  return brightest.reshape(1, picture.rows) != 0;
}

}  // namespace mpm::vision
