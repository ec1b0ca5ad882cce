// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/class_list.h"

#include <cstdio>
#include <set>

#include "base/atomic_file.h"
#include "mpm/error.hpp"

namespace mpm::vision {

void ClassList::validate(const std::string& what) const {
  if (classes.size() > kMaxClasses)
    throw Error(what + " names " + std::to_string(classes.size()) + " classes; " + std::to_string(kMaxClasses) +
                " are possible");
  if (ignore < 0 || ignore > 255) throw Error(what + ": \"ignore\" must be from 0 to 255");
  std::set<std::string> names;
  for (const ClassInfo& one : classes) {
    if (one.name.empty()) throw Error(what + " has a class without a name");
    if (!names.insert(one.name).second) throw Error(what + " names two classes '" + one.name + "'");
  }
}

nlohmann::ordered_json toJson(const std::vector<ClassInfo>& classes) {
  auto list = nlohmann::ordered_json::array();
  for (const ClassInfo& entry : classes) {
    nlohmann::ordered_json& added = list.emplace_back(nlohmann::ordered_json{{"name", entry.name}});
    if (!entry.rgb) continue;
    char color[8];
    std::snprintf(color, sizeof color, "#%02x%02x%02x", (*entry.rgb)[0], (*entry.rgb)[1], (*entry.rgb)[2]);
    added["color"] = color;
  }
  return list;
}

std::vector<ClassInfo> classesFromJson(const nlohmann::json& json) {
  std::vector<ClassInfo> classes;
  for (const nlohmann::json& entry : json) {
    classes.push_back({entry.at("name").get<std::string>()});
    if (!entry.contains("color")) continue;
    const auto color = entry.at("color").get<std::string>();
    unsigned r = 0, g = 0, b = 0;
    char rest = 0;
    if (color.size() != 7 || std::sscanf(color.c_str(), "#%2x%2x%2x%c", &r, &g, &b, &rest) != 3)
      throw Error("'" + color + "' is not a colour; write #rrggbb");
    const auto byte = [](unsigned value) { return static_cast<std::uint8_t>(value); };
    classes.back().rgb = {byte(r), byte(g), byte(b)};
  }
  return classes;
}

ClassList readClassList(const std::string& path) {
  try {
    const nlohmann::json json = nlohmann::json::parse(readFile(path));
    if (!json.is_object()) return {classesFromJson(json)};
    return {classesFromJson(json.at("classes")), json.value("ignore", 255)};
  } catch (const nlohmann::json::exception&) {
    throw Error("'" + path + "' is not a list of classes: [{\"name\": \"sky\", \"color\": \"#87ceeb\"}, ...]");
  }
}

void writeClassList(const std::string& path, const ClassList& list) {
  const nlohmann::ordered_json json = {{"classes", toJson(list.classes)}, {"ignore", list.ignore}};
  writeFileAtomically(path, json.dump(2) + "\n");
}

}  // namespace mpm::vision
