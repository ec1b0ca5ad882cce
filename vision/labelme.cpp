// SPDX-License-Identifier: Apache-2.0
#include "vision/labelme.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <opencv2/imgproc.hpp>

#include "base/atomic_file.h"
#include "base/size_text.h"
#include "mpm/error.hpp"

namespace mpm::vision {
namespace {

namespace fs = std::filesystem;

constexpr int kStroke = 3;  // px, of lines and points

nlohmann::json parsed(const std::string& path) {
  constexpr int kDeepest = 16;
  const auto shallow = [&](int depth, nlohmann::json::parse_event_t, const nlohmann::json&) {
    if (depth > kDeepest) throw Error("'" + path + "' is nested too deep");
    return true;
  };
  return nlohmann::json::parse(readFile(path), shallow, false);
}

std::vector<cv::Point> pointsOf(const nlohmann::json& shape) {
  constexpr double kFar = 1e6;  // px
  std::vector<cv::Point> points;
  for (const nlohmann::json& point : shape.at("points")) {
    const auto coordinate = [&](std::size_t i) {
      return static_cast<int>(std::lround(std::clamp(point.at(i).get<double>(), -kFar, kFar)));
    };
    points.emplace_back(coordinate(0), coordinate(1));
  }
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
  std::map<std::string, std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() != ".json") continue;
    const nlohmann::json json = parsed(entry->path().string());
    if (json.is_discarded()) throw Error("'" + entry->path().string() + "' is not valid JSON");
    if (json.is_object() && json.contains("shapes"))
      files.emplace(entry->path().stem().string(), entry->path().string());
  }
  if (error) throw Error("cannot read the folder of labels '" + folder + "': " + error.message());
  return files;
}

std::vector<std::string> labelMeNames(const std::string& path) {
  std::vector<std::string> names;
  orNotLabelMe(path, [&] {
    const nlohmann::json json = parsed(path);
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
    const nlohmann::json json = parsed(path);
    const Size2 own{json.value("imageHeight", size.height), json.value("imageWidth", size.width)};
    const Size2 picture{size.height, size.width};
    if (own != picture)
      throw Error("'" + path + "' is for a picture of " + toString(own) + ", its image is " + toString(picture));
    for (const nlohmann::json& shape : json.at("shapes")) {
      const auto name = shape.at("label").get<std::string>();
      const auto found =
          std::find_if(classes.begin(), classes.end(), [&](const ClassInfo& one) { return one.name == name; });
      if (found == classes.end())
        throw Error("'" + path + "' holds the label '" + name + "', which is none of the classes");
      const std::string kind = shape.value("shape_type", "polygon");
      if (!paint(labels, kind, pointsOf(shape), static_cast<int>(found - classes.begin())))
        throw Error("'" + path + "' holds a " + kind + " with " + std::to_string(shape.at("points").size()) +
                    " points: only polygons, rectangles, circles, lines and points can be read");
    }
  });
  return labels;
}

}  // namespace mpm::vision
