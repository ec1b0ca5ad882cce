// SPDX-License-Identifier: Apache-2.0
#include "vision/regions/region.h"

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <cmath>
#include <filesystem>
#include <limits>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <set>
#include <utility>

#include "base/atomic_file.h"
#include "base/blank_text.h"
#include "base/number_text.h"
#include "base/size_text.h"
#include "base/visible_text.h"
#include "mpm/error.hpp"
#include "vision/csv.h"
#include "vision/labels/label_files.h"
#include "vision/labels/shapes.h"
#include "vision/model_files.h"
#include "vision/pictures/pictures.h"

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
  using enum RegionError::Why;
  const auto refuse = [&](RegionError::Why why, const std::string& text) { throw RegionError(why, text, region.name); };
  if (isBlank(region.name)) refuse(kNoName, "a region has no name: give each a name");
  if (region.size.empty()) refuse(kOther, called(region) + " has no size: give the size of its picture");
  if (region.mask.empty() == region.polygons.empty())
    refuse(kNoArea, called(region) + " has no area: give it polygons or a mask, one of both");
  if (region.from && region.to && *region.from >= *region.to)
    refuse(kNoTime, called(region) + " ends at " + isoTime(*region.to) + ", before it begins");
  if (!region.mask.empty()) {
    if (region.mask.type() != CV_8UC1 || region.mask.size() != region.size) {
      refuse(kOther, "the mask of " + called(region) + " is " + text(region.mask.size()) + ", its picture " +
                         text(region.size) + ": give a mask of the picture's size");
    }
    if (cv::countNonZero(region.mask) == 0)
      refuse(kNoArea, called(region) + " has no area: nothing is inside its mask");
    return;
  }
  for (const auto& polygon : region.polygons) {
    for (const cv::Point2d& p : polygon) {
      if (!(p.x >= -1 && p.y >= -1 && p.x <= region.size.width && p.y <= region.size.height)) {
        refuse(kOther, called(region) + " reaches out of its picture of " + text(region.size) + " at x " +
                           numberText(p.x) + ", y " + numberText(p.y) + ": keep it inside");
      }
    }
  }
  if (std::ranges::none_of(region.polygons, hasArea))
    refuse(kNoArea, called(region) + " has no area: a polygon has three points or more, not on one line");
}

// Files of labelling tools and of PhenoCam.

constexpr const char* kIgnored = "ignore";  // the label

Region& regionNamed(std::vector<Region>& regions, const std::string& name, cv::Size size) {
  const auto same = [&](const Region& one) { return one.name == name; };
  const auto found = std::ranges::find_if(regions, same);
  if (found != regions.end()) return *found;
  return regions.emplace_back(Region{.name = name, .ignore = name == kIgnored, .size = size});
}

std::vector<cv::Point2d> requiredOutline(const JsonValue& json) {
  const LabelMeShape shape = shapeOf(json);
  auto outline = outlineOf(shape);
  if (outline.empty()) {
    throw Error(json.place() + " is a " + visibleText(shape.kind) + " with " + std::to_string(shape.points.size()) +
                " points: a region is made of polygons of three points or more, rectangles and circles");
  }
  return outline;
}

cv::Size sizeOf(const JsonValue& json, const char* width, const char* height) {
  return {json.at(width).integer(1, kMaxRegionSide), json.at(height).integer(1, kMaxRegionSide)};
}

std::vector<Region> ofLabelMe(const JsonValue& json) {
  const cv::Size size = sizeOf(json, "imageWidth", "imageHeight");
  std::vector<Region> regions;
  for (const JsonValue& shape : json.at("shapes").list())
    regionNamed(regions, shape.at("label").text(), size).polygons.push_back(requiredOutline(shape));
  return regions;
}

std::vector<Region> ofCoco(const JsonValue& json) {
  const CocoFile file(json);
  const std::vector<std::string> pictures = file.pictures();
  if (pictures.size() != 1) {
    throw Error(json.place() + " has shapes of " + std::to_string(pictures.size()) +
                " pictures: export those of one picture");
  }
  const cv::Size size = file.size(pictures[0]);
  std::vector<Region> regions;
  for (const CocoFile::Shape& shape : file.shapes(pictures[0])) {
    Region& region = regionNamed(regions, shape.category.text(), size);
    if (shape.segmentation.json().is_object()) {
      if (region.mask.empty()) region.mask = cv::Mat(size, CV_8UC1, cv::Scalar(0));
      paintSegmentation(region.mask, shape.segmentation, 255);
    } else {
      for (const JsonValue& polygon : shape.segmentation.list()) region.polygons.push_back(cocoPolygon(polygon));
    }
  }
  for (Region& region : regions) {
    if (!region.mask.empty() && !region.polygons.empty()) {  // the inside of both
      cv::Mat mask;
      std::swap(mask, region.mask);
      region.mask = mask | maskOf(region, size);
      region.polygons.clear();
    }
  }
  return regions;
}

// "DB_1000" of x_DB_1000_roi.csv; the name without its ending where it has another form.
std::string nameIn(const std::string& path) {
  const std::string stem = std::filesystem::path(path).stem().string();
  if (!stem.ends_with("_roi")) return stem;
  const std::string name = stem.substr(0, stem.rfind('_'));
  const std::size_t number = name.rfind('_'), type = number == 0 ? number : name.rfind('_', number - 1);
  if (type >= number || number + 1 == name.size()) return stem;
  return name.find_first_not_of("0123456789", number + 1) == std::string::npos ? name.substr(type + 1) : stem;
}

// Its times are of the camera's clock without summer time.
// "# Veg Type: DB", "# ROI ID Number: 1000"; then rows start_date,start_time,end_date,end_time,maskfile,sample_image.
std::vector<Region> ofPhenoCam(const std::string& path, const CameraClock& clock) {
  std::string type, number;
  std::vector<Region> regions;
  const auto moment = [&clock](UnixMs wall) { return clock.standardTime(wall).time(wall); };
  for (const CsvLine& line : readCsv(path)) {
    const auto header = [&](std::string_view key, std::string& value) {
      const std::string& cell = line.cells[0];
      if (const auto at = cell.find(key); line.isComment() && at != std::string::npos)
        value = cell.substr(std::min(cell.find_first_not_of(' ', at + key.size()), cell.size()));
    };
    header("Veg Type:", type);
    header("ROI ID Number:", number);
    const std::vector<std::string>& cells = line.cells;
    if (line.isComment() || cells[0] == "start_date") continue;
    if (cells.size() < 5) refuse(path, line, "expected start_date,start_time,end_date,end_time,maskfile,sample_image");
    const bool stays = cells[2].starts_with("9999");
    const auto begin = timeOfIso(cells[0] + "T" + cells[1]), end = stays ? begin : timeOfIso(cells[2] + "T" + cells[3]);
    if (!begin || !end) {
      refuse(path, line,
             "'" + visibleText(cells[begin ? 2 : 0] + "," + cells[begin ? 3 : 1]) +
                 "' is no time: write YYYY-MM-DD,HH:MM:SS");
    }
    if (*end < *begin) refuse(path, line, "it ends at " + cells[2] + " " + cells[3] + ", before it begins");
    Region region{.name = type.empty() || number.empty() ? nameIn(path) : type + "_" + number};
    region.mask = readMask(std::filesystem::path(path).parent_path().string(), cells[4], true);
    region.size = region.mask.size();
    region.from = moment(*begin);
    // The last second belongs to it. One that begins in it gives it up, as in vegindex, which takes the first.
    if (!stays) region.to = moment(*end) + kSecondMs;
    if (!regions.empty() && regions.back().to == *region.from + kSecondMs) *region.from += kSecondMs;
    regions.push_back(std::move(region));
  }
  return regions;
}

Json runsOf(const cv::Mat& mask) {
  Json runs = Json::array();
  std::int64_t length = 0;
  bool inside = false;
  for (int y = 0; y < mask.rows; ++y) {
    for (int x = 0; x < mask.cols; ++x, ++length) {
      if ((mask.at<uchar>(y, x) != 0) != inside) {
        runs.push_back(std::exchange(length, 0));
        inside = !inside;
      }
    }
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

cv::Mat maskOf(const Region& region, cv::Size picture) {
  if (!region.mask.empty()) {
    if (region.mask.size() != picture) {
      throw Error("the mask of " + called(region) + " is " + text(region.mask.size()) + ", the picture " +
                  text(picture) + ": give a mask of the picture's size, or polygons");
    }
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

bool operator==(const Region& a, const Region& b) { return toJson(a) == toJson(b); }

void writeRegions(const std::string& path, const std::vector<Region>& regions) {
  requireNotOfModel(path);
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
    if (!time) {
      throw RegionError(RegionError::Why::kSameName,
                        "two regions have the name '" + visibleText(after.name) + "': give each its own", after.name);
    }
    throw RegionError(RegionError::Why::kSameTime,
                      "two regions '" + visibleText(after.name) + "' are valid at " + isoTime(*time) +
                          ": let one end before the next begins",
                      after.name);
  }
}

Json toJson(const Region& region) {
  Json json = {{"name", region.name}, {"width", region.size.width}, {"height", region.size.height}};
  if (region.ignore) json["ignore"] = true;
  if (region.from) json["from"] = isoTime(*region.from, true);
  if (region.to) json["to"] = isoTime(*region.to, true);
  if (region.cut_out_s) json.update({{"resolution", "camera"}, {"every", *region.cut_out_s}});
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
  if (const auto resolution = json.find("resolution")) {
    if (resolution->text() != "camera") resolution->fail("\"camera\"");
    region.cut_out_s = kUsualCutOutS;
    if (const auto every = json.find("every")) region.cut_out_s = every->number(0, kDayMs / kSecondMs);
  }
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

cv::Mat readMask(const std::string& folder, const std::string& name, bool black_inside) {
  const std::filesystem::path path = std::filesystem::path(name).lexically_normal();
  if (name.empty() || path.is_absolute() || *path.begin() == "..") {
    throw Error("mask '" + visibleText(name) + "' does not lie in the folder of its file, '" + folder +
                "': put the picture there");
  }
  const std::string file = (folder / path).string();
  // With all bits: small values of 16 are not black.
  const cv::Mat colors = readPictureFile(file, cv::IMREAD_COLOR | cv::IMREAD_ANYDEPTH);
  cv::Mat brightest;
  cv::reduce(colors.reshape(1, static_cast<int>(colors.total())), brightest, 1, cv::REDUCE_MAX);
  brightest = brightest.reshape(1, colors.rows);
  cv::Mat inside = black_inside ? brightest == 0 : brightest != 0;
  if (const cv::Mat opacity = readOpacity(file); !opacity.empty()) inside &= opacity != 0;
  return inside;
}

std::vector<Region> readRegions(const std::string& path, const CameraClock& clock) {
  std::vector<Region> regions;
  if (boost::algorithm::iends_with(path, ".csv")) {
    regions = ofPhenoCam(path, clock);
  } else {
    const JsonValue json = readJsonFile(path);
    if (json.has("regions")) {
      const std::string folder = std::filesystem::absolute(path).parent_path().string();
      for (const JsonValue& one : json.at("regions").list()) regions.push_back(regionFromJson(one, folder));
    } else if (isLabelMe(json)) {
      regions = ofLabelMe(json);
    } else if (isCoco(json)) {
      regions = ofCoco(json);
    } else {
      throw Error("'" + path +
                  "' holds no regions: expected {\"regions\": [...]}, a file of LabelMe or COCO, or a CSV " +
                  "list of PhenoCam");
    }
  }
  if (regions.empty()) throw Error("'" + path + "' holds no region: draw one");
  try {
    check(regions);
  } catch (const Error& error) {
    throw Error("'" + path + "': " + error.what());
  }
  return regions;
}

}  // namespace mpm::vision
