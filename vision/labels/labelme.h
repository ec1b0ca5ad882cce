// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "vision/labels/class_list.h"

namespace mpm::vision {

/// The LabelMe files of a folder (JSON with "shapes") by their names without extension. Other JSON files do not count.
/// Throws mpm::Error naming the folder.
std::map<std::string, std::string> labelMeFiles(const std::string& folder);

/// The labels in a LabelMe file, each once, in the order of its shapes. Throws mpm::Error naming the file.
std::vector<std::string> labelMeNames(const std::string& path);

/// The label map, CV_8U of `size`, of a LabelMe file: polygons, rectangles, circles, lines and points, later shapes
/// over earlier ones, `ignore` where there is none. Labels are names of classes. Throws mpm::Error naming the file:
/// when a label is none of the classes, a shape of another kind, or the picture of another size.
cv::Mat readLabelMe(const std::string& path, const std::vector<ClassInfo>& classes, int ignore, cv::Size size);

/// Writes the labels of one picture, CV_8U, so that readLabelMe() gives the same label map: the polygons of outlines().
/// `picture` is the name of its file, beside the one that is written. Whole or not at all. Throws mpm::Error naming the
/// file.
void writeLabelMe(const std::string& path, const std::string& picture, const cv::Mat& labels, const ClassList& classes);

}  // namespace mpm::vision
