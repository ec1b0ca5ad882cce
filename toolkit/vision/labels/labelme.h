// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "vision/labels/classes.h"

namespace mpm::vision {

/// Whether JSON is a file of LabelMe: an object with "shapes".
bool isLabelMe(const JsonValue& json);

struct LabelMeShape {
  std::string kind;  ///< "polygon", "rectangle", ...
  std::vector<cv::Point2d> points;
};
/// One of "shapes". Throws mpm::Error naming the place.
LabelMeShape shapeOf(const JsonValue& shape);

/// The labels in a LabelMe file, each once, in the order of its shapes. Throws mpm::Error naming the file.
std::vector<std::string> labelMeNames(const JsonValue& json);

/// The label map, CV_8U of `size`, of a LabelMe file: polygons, rectangles, circles, lines and points, later shapes
/// over earlier ones, `ignore` where there is none. Labels are names of classes. Throws mpm::Error naming the file:
/// when a label is none of the classes, a shape of another kind, or the picture of another size.
cv::Mat readLabelMe(const JsonValue& json, const std::vector<ClassInfo>& classes, int ignore, cv::Size size);

/// Writes the labels of one picture, CV_8U, so that readLabelMe() gives the same label map: the polygons of outlines().
/// `picture` is the name of its file, beside the one that is written. Whole or not at all. Throws mpm::Error naming the
/// file.
void writeLabelMe(const std::string& path, const std::string& picture, const cv::Mat& labels, const ClassList& classes);

}  // namespace mpm::vision
