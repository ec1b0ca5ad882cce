// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/label_files.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <unordered_map>
#include <unordered_set>

#include "base/number_text.h"
#include "vision/labels/shapes.h"
#include "vision/pictures/pictures.h"

namespace mpm::vision {
namespace {

// Bits and kind of colours of a PNG; {8, 0}, which is 8 bits of grey, for another file.
std::pair<int, int> pngBitsAndKind(const std::string& path) {
  char header[26];  // its signature, then length, name, width, height, depth and kind of colours
  std::ifstream file(path, std::ios::binary);
  if (!file.read(header, sizeof header) || std::string(header + 12, 4) != "IHDR") return {8, 0};
  return {header[24], header[25]};
}

// The bits of a pixel of a BMP; 0 for another file.
int bmpBits(const std::string& path) {
  unsigned char header[30];  // of the file, then sizes, planes and bits
  std::ifstream file(path, std::ios::binary);
  const bool whole = static_cast<bool>(file.read(reinterpret_cast<char*>(header), sizeof header));
  return whole && header[0] == 'B' && header[1] == 'M' ? header[28] + 256 * header[29] : 0;
}

// BitsPerSample of the first page of a TIFF; 0 for another file.
int tiffBits(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  bool little = true;
  const auto number = [&](int bytes) {
    unsigned char read[4] = {};
    file.read(reinterpret_cast<char*>(read), bytes);
    unsigned value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | read[little ? bytes - 1 - i : i];
    return value;
  };
  constexpr unsigned kLittleEndian = 0x4949, kBigEndian = 0x4d4d, kMark = 42, kBitsPerSample = 258;
  const unsigned order = number(2);
  little = order == kLittleEndian;
  if ((order != kLittleEndian && order != kBigEndian) || number(2) != kMark) return 0;
  file.seekg(number(4));
  for (unsigned left = number(2); file && left > 0; --left) {
    const unsigned tag = number(2);
    file.ignore(2);  // its type
    const unsigned count = number(4);
    if (tag == kBitsPerSample && count == 1) return static_cast<int>(number(2));
    file.ignore(4);
  }
  return file ? 1 : 0;  // what the format says of a file without the tag
}

constexpr int kStroke = 3;  // px, of lines and points

// False for a kind of shape that is not known, or one with too few points.
bool paint(cv::Mat& labels, const LabelMeShape& shape, int label, const JsonValue& json) {
  if (const auto outline = outlineOf(shape); !outline.empty()) {
    fillPolygon(labels, outline, label, json);
    return true;
  }
  const cv::Scalar color(label);
  std::vector<cv::Point> points;
  for (const cv::Point2d& point : shape.points) points.push_back(labelPoint(point));
  if ((shape.kind == "line" || shape.kind == "linestrip") && points.size() >= 2)
    cv::polylines(labels, points, false, color, kStroke - 1);  // OpenCV draws 3 px for 2, 5 for 3
  else if ((shape.kind == "point" || shape.kind == "points") && !points.empty())
    for (const cv::Point& point : points) cv::circle(labels, point, kStroke / 2, color, cv::FILLED);
  else
    return false;
  return true;
}

// Lengths of runs of 0 and 1 in turns, down the columns.
void paintRuns(cv::Mat& labels, const JsonValue& runs, int label) {
  const JsonValue counts = runs.at("counts");
  if (!counts.json().is_array())
    throw Error(counts.place() + " holds compressed run lengths: export polygons, or run lengths as numbers");
  const auto size = runs.at("size").list(2, 2);
  requireSize({size[1].integer(1, kMaxSide), size[0].integer(1, kMaxSide)}, labels.size(), runs);
  labels.setTo(label, maskOfRuns(counts, {labels.rows, labels.cols}).t());
}

}  // namespace

cv::Mat readLabelMap(const std::string& path) {
  const cv::Mat labels = readPictureFile(path, cv::IMREAD_UNCHANGED);
  // OpenCV gives the grey values of the palette of a BMP, and stretches the values of a TIFF.
  if (const int bits = std::max(bmpBits(path), tiffBits(path)); bits > 0 && bits < 8)
    throw Error("label map '" + path + "' has " + counted(bits, "bit") + " for a pixel: write it with 8");
  const auto [bits, kind] = pngBitsAndKind(path);
  if (labels.type() != CV_8UC1 && kind == 3)  // OpenCV gives its colours, never the indices
    throw Error("label map '" + path + "' has a palette: write the class indices as grey values, without one");
  if (labels.type() != CV_8UC1) {
    throw Error("label map '" + path + "' has " + counted(labels.channels(), "channel") + " of " +
                std::to_string(8 * labels.elemSize1()) +
                " bits: write one channel of 8 bits, the class index of each pixel");
  }
  if (bits > 0 && bits < 8) return labels / (255 / ((1 << bits) - 1));  // OpenCV stretches them to 0..255
  return labels;
}

LabelMeShape shapeOf(const JsonValue& shape) {
  const auto named = shape.find("shape_type");
  return {named ? named->text() : "polygon", pointsOf(shape.at("points"))};
}

std::vector<cv::Point2d> outlineOf(const LabelMeShape& shape) {
  const auto& [kind, points] = shape;
  if (kind == "polygon" && points.size() >= 3) return points;
  if (points.size() != 2) return {};
  if (kind == "rectangle") return {points[0], {points[1].x, points[0].y}, points[1], {points[0].x, points[1].y}};
  if (kind != "circle") return {};
  constexpr int kCorners = 90;
  std::vector<cv::Point2d> circle;
  for (int i = 0; i < kCorners; ++i) {
    circle.push_back(points[0] + cv::norm(points[1] - points[0]) * cv::Point2d(std::cos(i * 2 * CV_PI / kCorners),
                                                                               std::sin(i * 2 * CV_PI / kCorners)));
  }
  return circle;
}

std::vector<std::string> labelMeNames(const JsonValue& json) {
  std::vector<std::string> names;
  for (const JsonValue& shape : json.at("shapes").list()) {
    if (const auto name = shape.at("label").text(); std::ranges::find(names, name) == names.end())
      names.push_back(name);
  }
  return names;
}

cv::Mat readLabelMe(const JsonValue& json, const std::vector<ClassInfo>& classes, int ignore, cv::Size size) {
  cv::Mat labels(size, CV_8U, cv::Scalar(ignore));
  requireSize(json, "imageWidth", "imageHeight", size);
  for (const JsonValue& shape : json.at("shapes").list()) {
    const int label = numberOfClass(shape.at("label"), classes);
    const LabelMeShape of = shapeOf(shape);
    if (!paint(labels, of, label, shape)) {
      throw Error(shape.place() + " is a " + visibleText(of.kind) + " with " +
                  counted(static_cast<std::int64_t>(of.points.size()), "point") +
                  ": only polygons of three points or more, rectangles, circles, lines and points can be read");
    }
  }
  return labels;
}

std::vector<cv::Point2d> cocoPolygon(const JsonValue& polygon) {
  const auto numbers = polygon.list();
  if (numbers.size() < 6 || numbers.size() % 2 != 0) {
    throw Error(polygon.place() + " has " + std::to_string(numbers.size()) +
                " numbers: a polygon has three points or more, and two numbers for each");
  }
  std::vector<cv::Point2d> points;
  for (std::size_t i = 0; i < numbers.size(); i += 2) points.emplace_back(numbers[i].number(), numbers[i + 1].number());
  return points;
}

void paintSegmentation(cv::Mat& labels, const JsonValue& segmentation, int label) {
  if (segmentation.json().is_object()) return paintRuns(labels, segmentation, label);
  for (const JsonValue& polygon : segmentation.list()) fillPolygon(labels, cocoPolygon(polygon), label, polygon);
}

CocoFile::CocoFile(JsonValue json) : json_(std::move(json)) {
  const auto refuse = [](const JsonValue& where, const std::string& what) {
    throw Error(where.place() + " is " + what + " for the second time: each may occur once");
  };
  std::unordered_map<std::int64_t, std::size_t> category_of_id;
  for (const JsonValue& category : json_.at("categories").list()) {
    const std::int64_t id = category.at("id").count();
    if (!category_of_id.emplace(id, categories_.size()).second) refuse(category, "category " + std::to_string(id));
    categories_.push_back({category.at("name"), false});
  }
  std::unordered_map<std::int64_t, Picture*> picture_of_id;
  for (const JsonValue& image : json_.at("images").list()) {
    const std::string name = std::filesystem::path(image.at("file_name").text()).stem().string();
    if (name.empty()) image.fail("the name of a file in \"file_name\"");
    const auto [place, fresh] = pictures_.emplace(name, Picture{image, {}});
    if (!fresh) refuse(image, "a picture '" + visibleText(name) + "'");
    if (!picture_of_id.emplace(image.at("id").count(), &place->second).second)
      refuse(image, "picture " + std::to_string(image.at("id").count()));
  }
  std::unordered_set<std::int64_t> ids;
  for (const JsonValue& annotation : json_.at("annotations").list()) {
    const auto id = annotation.find("id");
    if (id && !ids.insert(id->count()).second) refuse(annotation, "annotation " + std::to_string(id->count()));
    const auto category = category_of_id.find(annotation.at("category_id").count());
    if (category == category_of_id.end()) annotation.at("category_id").fail("the id of a category");
    const auto picture = picture_of_id.find(annotation.at("image_id").count());
    if (picture == picture_of_id.end()) annotation.at("image_id").fail("the id of an image");
    Category& of = categories_[category->second];
    of.used = true;
    picture->second->shapes.push_back({of.name, annotation.at("segmentation")});
  }
}

std::vector<std::string> CocoFile::pictures() const {
  std::vector<std::string> names;
  for (const auto& [name, picture] : pictures_)
    if (!picture.shapes.empty()) names.push_back(name);
  return names;
}

std::vector<std::string> CocoFile::names() const {
  std::vector<std::string> names;
  for (const Category& category : categories_)
    if (category.used) names.push_back(category.name.text());
  return names;
}

cv::Mat CocoFile::labels(const std::string& name, const std::vector<ClassInfo>& classes, int ignore,
                         cv::Size size) const {
  const auto found = pictures_.find(name);
  if (found == pictures_.end()) throw Error(json_.place() + " names no picture '" + visibleText(name) + "'");
  const Picture& picture = found->second;
  requireSize(picture.image, "width", "height", size);
  cv::Mat labels(size, CV_8U, cv::Scalar(ignore));
  for (const Shape& shape : picture.shapes)
    paintSegmentation(labels, shape.segmentation, numberOfClass(shape.category, classes));
  return labels;
}

cv::Size CocoFile::size(const std::string& name) const {
  const JsonValue& image = pictures_.at(name).image;
  return {image.at("width").integer(1, kMaxSide), image.at("height").integer(1, kMaxSide)};
}

}  // namespace mpm::vision
