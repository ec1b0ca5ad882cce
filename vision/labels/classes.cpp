// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/classes.h"

#include <array>
#include <set>

namespace mpm::vision {

std::string className(const std::vector<std::string>& names, int label) {
  const auto index = static_cast<std::size_t>(label);
  return index < names.size() && !names[index].empty() ? names[index] : "class_" + std::to_string(label);
}

std::vector<std::string> classNames(const ModelInfo& model) {
  std::vector<std::string> names;
  for (const ClassInfo& one : model.facts.classes) names.push_back(one.name);
  names.resize(model.classes);
  std::set<std::string> taken;
  for (int c = 0; c < model.classes; ++c) {
    names[c] = className(names, c);
    while (!taken.insert(names[c]).second) names[c] += "_" + std::to_string(c);
  }
  return names;
}

std::vector<std::pair<int, double>> classAreas(const cv::Mat& labels, const cv::Mat& mask) {
  std::array<std::int64_t, 256> counts{};
  std::int64_t total = 0;
  for (int y = 0; y < labels.rows; ++y) {
    const unsigned char *const row = labels.ptr<unsigned char>(y), *const inside = mask.empty() ? nullptr : mask.ptr(y);
    for (int x = 0; x < labels.cols; ++x) {
      const int counted = !inside || inside[x] != 0 ? 1 : 0;
      counts[row[x]] += counted;
      total += counted;
    }
  }
  std::vector<std::pair<int, double>> areas;
  for (int c = 0; c < 256; ++c)
    if (counts[c] > 0) areas.emplace_back(c, static_cast<double>(counts[c]) / static_cast<double>(total));
  return areas;
}

}  // namespace mpm::vision
