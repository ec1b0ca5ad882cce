// SPDX-License-Identifier: Apache-2.0
// What the files of shapes of labelling tools share.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "mpm/model_info.hpp"

namespace mpm::vision {

/// Throws mpm::Error naming the file: it cannot be read, is not valid JSON or is nested too deep.
nlohmann::json readLabelJson(const std::string& path);

/// The JSON files of a folder, by their names without extension. Throws mpm::Error naming the folder.
std::map<std::string, std::string> jsonFiles(const std::string& folder);

/// The number of the class `name`. Throws mpm::Error naming `path` when it is none of the classes.
int numberOfClass(const std::string& name, const std::vector<ClassInfo>& classes, const std::string& path);

/// Throws mpm::Error naming `path` where it is for a picture of another size.
void requireSize(cv::Size own, cv::Size picture, const std::string& path);

/// Rounded; what is far outside of a picture comes nearer.
cv::Point labelPoint(double x, double y);

}  // namespace mpm::vision
