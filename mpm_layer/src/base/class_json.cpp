// SPDX-License-Identifier: Apache-2.0
#include "base/class_json.h"

#include <cstdio>

#include "base/blank_text.h"

namespace mpm {

Json toJson(const std::vector<ClassInfo>& classes) {
  auto list = Json::array();
  for (const ClassInfo& entry : classes) {
    Json& added = list.emplace_back(Json{{"name", entry.name}});
    if (entry.rgb) {
      char color[8];
      std::snprintf(color, sizeof color, "#%02x%02x%02x", (*entry.rgb)[0], (*entry.rgb)[1], (*entry.rgb)[2]);
      added["color"] = color;
    }
    if (!entry.thing) added["thing"] = false;
  }
  return list;
}

std::vector<ClassInfo> classesFromJson(const JsonValue& list) {
  std::vector<ClassInfo> classes;
  for (const JsonValue& entry : list.list()) {
    ClassInfo& one = classes.emplace_back();
    one.name = entry.at("name").text();
    if (isBlank(one.name)) entry.fail("a class with a name");
    if (const auto thing = entry.find("thing")) one.thing = thing->flag();
    const auto color = entry.find("color");
    if (!color) continue;
    const std::string text = color->json().is_string() ? color->text() : "";
    if (text.size() != 7 || text[0] != '#' || text.find_first_not_of("0123456789abcdefABCDEF", 1) != std::string::npos)
      color->fail("a colour such as \"#8040ff\"");
    const auto byte = [&](std::size_t at) {
      return static_cast<std::uint8_t>(std::stoi(text.substr(at, 2), nullptr, 16));
    };
    one.rgb = {byte(1), byte(3), byte(5)};
  }
  return classes;
}

}  // namespace mpm
