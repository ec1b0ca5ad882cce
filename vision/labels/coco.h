// SPDX-License-Identifier: Apache-2.0
// COCO's JSON: "images", "categories" and "annotations", the shapes of many pictures in one file.
#pragma once

#include <map>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "vision/labels/class_list.h"

namespace mpm::vision {

/// The pictures that the COCO files of a folder describe, by their names without extension, each with its file. Other
/// JSON files do not count. Throws mpm::Error naming the folder or a file.
std::map<std::string, std::string> cocoFiles(const std::string& folder);
/// Whether a JSON file is one of COCO. Throws mpm::Error naming the file.
bool isCoco(const std::string& path);

/// The categories that have a shape, in the order of the file. Throws mpm::Error naming the file.
std::vector<std::string> cocoNames(const std::string& path);

/// The label map, CV_8U of `size`, of the picture `name` (without extension): polygons and run lengths, later shapes
/// over earlier ones, `ignore` where there is none. Categories are names of classes. Throws mpm::Error naming the file:
/// when a category is none of the classes, a shape is of another kind, or the picture of another size.
cv::Mat readCoco(const std::string& path, const std::string& name, const std::vector<ClassInfo>& classes, int ignore,
                 cv::Size size);

struct CocoPicture {
  std::string file;  ///< its name, without folder
  cv::Mat labels;    ///< CV_8U
};

/// Writes labels so that readCoco() gives the same label maps: an annotation for each region, with the polygons of
/// outlines(). Whole or not at all. Throws mpm::Error naming the file.
void writeCoco(const std::string& path, const std::vector<CocoPicture>& pictures, const ClassList& classes);

}  // namespace mpm::vision
