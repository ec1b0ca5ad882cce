// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/class_list.h"

#include <set>

#include "base/atomic_file.h"
#include "base/class_json.h"
#include "base/visible_text.h"
#include "mpm/error.hpp"

namespace mpm::vision {

void ClassList::validate(const std::string& what) const {
  if (classes.size() > kMaxClasses)
    throw Error(what + " names " + std::to_string(classes.size()) + " classes; " + std::to_string(kMaxClasses) +
                " are possible");
  std::set<std::string> names;
  for (const ClassInfo& one : classes) {
    if (one.name.empty()) throw Error(what + " has a class without a name");
    if (!names.insert(one.name).second) throw Error(what + " names two classes '" + visibleText(one.name) + "'");
  }
}

ClassList readClassList(const std::string& path) {
  const JsonValue json = readJsonFile(path);
  if (!json.json().is_object() && !json.json().is_array())
    json.fail("a list of classes: [{\"name\": \"sky\", \"color\": \"#87ceeb\"}, ...]");
  ClassList list;
  const auto ignore = json.json().is_object() ? json.find("ignore") : std::nullopt;
  if (ignore) list.ignore = ignore->integer(0, 255);
  list.classes = classesFromJson(json.json().is_object() ? json.at("classes") : json);
  return list;
}

void writeClassList(const std::string& path, const ClassList& list) {
  const Json json = {{"classes", mpm::toJson(list.classes)}, {"ignore", list.ignore}};
  writeFileAtomically(path, json.dump(2) + "\n");
}

}  // namespace mpm::vision
