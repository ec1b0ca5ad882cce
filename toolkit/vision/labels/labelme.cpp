// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/labelme.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "base/atomic_file.h"
#include "vision/labels/shapes.h"

namespace mpm::vision {
namespace {

constexpr int kStroke = 3;  // px, of lines and points

// False for a kind of shape that is not known, or one with too few points.
bool paint(cv::Mat& labels, const std::string& kind, const std::vector<cv::Point2d>& exact, int label,
           const JsonValue& shape) {
  const cv::Scalar color(label);
  const std::size_t least = kind == "polygon" ? 3 : kind == "point" ? 1 : 2;
  if (exact.size() < least) return false;
  if (kind == "polygon") {
    fillPolygon(labels, exact, label, shape);
    return true;
  }
  std::vector<cv::Point> points;
  for (const cv::Point2d& point : exact) points.push_back(labelPoint(point));
  if (kind == "rectangle")
    cv::rectangle(labels, points[0], points[1], color, cv::FILLED);
  else if (kind == "circle")
    cv::circle(labels, points[0], static_cast<int>(std::lround(cv::norm(points[1] - points[0]))), color, cv::FILLED);
  else if (kind == "line" || kind == "linestrip")
    cv::polylines(labels, points, false, color, kStroke);
  else if (kind == "point" || kind == "points")
    for (const cv::Point& point : points) cv::circle(labels, point, kStroke / 2, color, cv::FILLED);
  else
    return false;
  return true;
}

}  // namespace

bool isLabelMe(const JsonValue& json) { return json.has("shapes"); }

LabelMeShape shapeOf(const JsonValue& shape) {
  const auto named = shape.find("shape_type");
  return {named ? named->text() : "polygon", pointsOf(shape.at("points"))};
}

std::vector<std::string> labelMeNames(const JsonValue& json) {
  std::vector<std::string> names;
  for (const JsonValue& shape : json.at("shapes").list())
    if (const auto name = shape.at("label").text(); std::ranges::find(names, name) == names.end())
      names.push_back(name);
  return names;
}

cv::Mat readLabelMe(const JsonValue& json, const std::vector<ClassInfo>& classes, int ignore, cv::Size size) {
  cv::Mat labels(size, CV_8U, cv::Scalar(ignore));
  requireSize(json, "imageWidth", "imageHeight", size);
  for (const JsonValue& shape : json.at("shapes").list()) {
    const int label = numberOfClass(shape.at("label"), classes);
    const auto [kind, points] = shapeOf(shape);
    if (!paint(labels, kind, points, label, shape))
      throw Error(shape.place() + " is a " + visibleText(kind) + " with " + std::to_string(points.size()) + " points" +
                  ": only polygons of three points or more, rectangles, circles, lines and points can be read");
  }
  return labels;
}

void writeLabelMe(const std::string& path, const std::string& picture, const cv::Mat& labels,
                  const ClassList& classes) {
  Json shapes = Json::array();
  for (int label = 0; label < classes.count(); ++label)
    for (const auto& outline : outlines(labels == label)) {
      Json points = Json::array();
      for (const cv::Point& point : outline) points.push_back({point.x, point.y});
      shapes.push_back({{"label", classes.classes[static_cast<std::size_t>(label)].name},
                        {"points", std::move(points)},
                        {"group_id", nullptr},
                        {"shape_type", "polygon"},
                        {"flags", Json::object()}});
    }
  const Json json = {{"version", "5.0.0"},       {"flags", Json::object()}, {"shapes", std::move(shapes)},
                     {"imagePath", picture},     {"imageData", nullptr},    {"imageHeight", labels.rows},
                     {"imageWidth", labels.cols}};
  writeFileAtomically(path, json.dump() + "\n");
}

}  // namespace mpm::vision
