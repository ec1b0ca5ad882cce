// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/label_json.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/size_text.h"
#include "mpm/error.hpp"

namespace mpm::vision {

namespace fs = std::filesystem;

nlohmann::json readLabelJson(const std::string& path) {
  constexpr int kDeepest = 16;
  const auto shallow = [&](int depth, nlohmann::json::parse_event_t, const nlohmann::json&) {
    if (depth > kDeepest) throw Error("'" + path + "' is nested too deep");
    return true;
  };
  nlohmann::json json = nlohmann::json::parse(readFile(path), shallow, false);
  if (json.is_discarded()) throw Error("'" + path + "' is not valid JSON");
  return json;
}

std::map<std::string, std::string> jsonFiles(const std::string& folder) {
  std::map<std::string, std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".json") files.emplace(entry->path().stem().string(), entry->path().string());
  if (error) throw Error("cannot read the folder of labels '" + folder + "': " + error.message());
  return files;
}

int numberOfClass(const std::string& name, const std::vector<ClassInfo>& classes, const std::string& path) {
  const auto found =
      std::find_if(classes.begin(), classes.end(), [&](const ClassInfo& one) { return one.name == name; });
  if (found == classes.end())
    throw Error("'" + path + "' holds the label '" + name + "', which is none of the classes");
  return static_cast<int>(found - classes.begin());
}

void requireSize(cv::Size own, cv::Size picture, const std::string& path) {
  if (own != picture)
    throw Error("'" + path + "' is for a picture of " + toString(Size2{own.height, own.width}) + ", its image is " +
                toString(Size2{picture.height, picture.width}));
}

cv::Point labelPoint(double x, double y) {
  static constexpr double kFar = 1e6;  // px
  const auto rounded = [](double value) { return static_cast<int>(std::lround(std::clamp(value, -kFar, kFar))); };
  return {rounded(x), rounded(y)};
}

}  // namespace mpm::vision
