// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/labelme.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "base/atomic_file.h"
#include "mpm/error.hpp"
#include "vision/labels/label_json.h"
#include "vision/labels/outlines.h"

namespace mpm::vision {
namespace {

constexpr int kStroke = 3;  // px, of lines and points

std::vector<cv::Point> pointsOf(const nlohmann::json& shape) {
  std::vector<cv::Point> points;
  for (const nlohmann::json& point : shape.at("points"))
    points.push_back(labelPoint(point.at(0).get<double>(), point.at(1).get<double>()));
  return points;
}

// False for a kind of shape that is not known, or one with too few points.
bool paint(cv::Mat& labels, const std::string& kind, const std::vector<cv::Point>& points, int label) {
  const cv::Scalar color(label);
  const std::size_t least = kind == "polygon" ? 3 : kind == "point" ? 1 : 2;
  if (points.size() < least) return false;
  if (kind == "polygon")
    cv::fillPoly(labels, std::vector<std::vector<cv::Point>>{points}, color);
  else if (kind == "rectangle")
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

template <typename Read>
void orNotLabelMe(const std::string& path, Read&& read) {
  try {
    read();
  } catch (const nlohmann::json::exception&) {
    throw Error("'" + path + "' is not a file of LabelMe: a shape needs \"label\" and \"points\"");
  }
}

}  // namespace

std::map<std::string, std::string> labelMeFiles(const std::string& folder) {
  std::map<std::string, std::string> files = jsonFiles(folder);
  std::erase_if(files, [](const auto& file) {
    const nlohmann::json json = readLabelJson(file.second);
    return !json.is_object() || !json.contains("shapes");
  });
  return files;
}

std::vector<std::string> labelMeNames(const std::string& path) {
  std::vector<std::string> names;
  orNotLabelMe(path, [&] {
    const nlohmann::json json = readLabelJson(path);
    for (const nlohmann::json& shape : json.at("shapes"))
      if (const auto name = shape.at("label").get<std::string>();
          std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
  });
  return names;
}

cv::Mat readLabelMe(const std::string& path, const std::vector<ClassInfo>& classes, int ignore, cv::Size size) {
  cv::Mat labels(size, CV_8U, cv::Scalar(ignore));
  orNotLabelMe(path, [&] {
    const nlohmann::json json = readLabelJson(path);
    requireSize({json.value("imageWidth", size.width), json.value("imageHeight", size.height)}, size, path);
    for (const nlohmann::json& shape : json.at("shapes")) {
      const int label = numberOfClass(shape.at("label").get<std::string>(), classes, path);
      const std::string kind = shape.value("shape_type", "polygon");
      if (!paint(labels, kind, pointsOf(shape), label))
        throw Error("'" + path + "' holds a " + kind + " with " + std::to_string(shape.at("points").size()) +
                    " points: only polygons, rectangles, circles, lines and points can be read");
    }
  });
  return labels;
}

void writeLabelMe(const std::string& path, const std::string& picture, const cv::Mat& labels,
                  const ClassList& classes) {
  nlohmann::ordered_json shapes = nlohmann::ordered_json::array();
  for (int label = 0; label < classes.count(); ++label)
    for (const auto& outline : outlines(labels == label)) {
      // A polygon of LabelMe has three points at least.
      nlohmann::ordered_json points = nlohmann::ordered_json::array();
      for (std::size_t i = 0; i < std::max<std::size_t>(outline.size(), 3); ++i) {
        const cv::Point& point = outline[std::min(i, outline.size() - 1)];
        points.push_back({point.x, point.y});
      }
      shapes.push_back({{"label", classes.classes[static_cast<std::size_t>(label)].name},
                        {"points", std::move(points)},
                        {"group_id", nullptr},
                        {"shape_type", "polygon"},
                        {"flags", nlohmann::ordered_json::object()}});
    }
  const nlohmann::ordered_json json = {{"version", "5.0.0"},          {"flags", nlohmann::ordered_json::object()},
                                       {"shapes", std::move(shapes)}, {"imagePath", picture},
                                       {"imageData", nullptr},        {"imageHeight", labels.rows},
                                       {"imageWidth", labels.cols}};
  writeFileAtomically(path, json.dump() + "\n");
}

}  // namespace mpm::vision
