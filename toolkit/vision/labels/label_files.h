// SPDX-License-Identifier: Apache-2.0
// Files of labels: maps, and those of labelling tools. LabelMe has the shapes of one picture; COCO has "images",
// "categories" and "annotations", the shapes of many pictures in one file.
#pragma once

#include <map>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "vision/labels/classes.h"

namespace mpm::vision {

/// The label map in a file: CV_8U, the class index of each pixel. Throws mpm::Error naming the file.
cv::Mat readLabelMap(const std::string& path);

/// Whether JSON is a file of LabelMe: an object with "shapes".
inline bool isLabelMe(const JsonValue& json) { return json.has("shapes"); }

struct LabelMeShape {
  std::string kind;  ///< "polygon", "rectangle", ...
  std::vector<cv::Point2d> points;
};
/// One of "shapes". Throws mpm::Error naming the place.
LabelMeShape shapeOf(const JsonValue& shape);
/// The outline of a polygon, a rectangle or a circle (its centre and a point on it). Empty: it is of another kind, or
/// has another number of points.
std::vector<cv::Point2d> outlineOf(const LabelMeShape& shape);

/// The labels in a LabelMe file, each once, in the order of its shapes. Throws mpm::Error naming the file.
std::vector<std::string> labelMeNames(const JsonValue& json);

/// The label map, CV_8U of `size`, of a LabelMe file: polygons, rectangles, circles, lines and points, later shapes
/// over earlier ones, `ignore` where there is none. Labels are names of classes. Throws mpm::Error naming the file:
/// when a label is none of the classes, a shape of another kind, or the picture of another size.
cv::Mat readLabelMe(const JsonValue& json, const std::vector<ClassInfo>& classes, int ignore, cv::Size size);

/// Whether JSON is a file of COCO: an object with these three.
inline bool isCoco(const JsonValue& json) {
  return json.has("images") && json.has("annotations") && json.has("categories");
}

/// A file of COCO that was read once, and what it says of pictures, by their names without folder and extension.
class CocoFile {
 public:
  /// Throws mpm::Error naming the place of an id or a picture that occurs twice, or of an id that is none.
  explicit CocoFile(JsonValue json);

  /// The pictures that have a shape.
  std::vector<std::string> pictures() const;
  /// The categories that have a shape, in the order of the file.
  std::vector<std::string> names() const;
  /// The label map, CV_8U of `size`, of a picture: polygons and run lengths, later shapes over earlier ones, `ignore`
  /// where there is none. Categories are names of classes. Throws mpm::Error naming the place: a category is none of
  /// the classes, a shape of another kind, or the picture of another size.
  cv::Mat labels(const std::string& name, const std::vector<ClassInfo>& classes, int ignore, cv::Size size) const;

  struct Shape {
    JsonValue category;  ///< its name
    JsonValue segmentation;
  };
  /// The shapes of a picture that pictures() names, in the order of the file.
  const std::vector<Shape>& shapes(const std::string& name) const { return pictures_.at(name).shapes; }
  /// "width" and "height" of it. Throws mpm::Error naming the place where they are missing.
  cv::Size size(const std::string& name) const;

 private:
  struct Category {
    JsonValue name;
    bool used = false;
  };
  struct Picture {
    JsonValue image;
    std::vector<Shape> shapes;
  };

  JsonValue json_;
  std::vector<Category> categories_;
  std::map<std::string, Picture> pictures_;
};

/// The points of one polygon of a "segmentation". Throws mpm::Error naming the place.
std::vector<cv::Point2d> cocoPolygon(const JsonValue& polygon);
/// Paints polygons or run lengths ("segmentation") into a label map, CV_8U. Throws mpm::Error naming the place.
void paintSegmentation(cv::Mat& labels, const JsonValue& segmentation, int label);

}  // namespace mpm::vision
