// SPDX-License-Identifier: Apache-2.0
#include "cli/class_names.h"

#include <set>

namespace mpm::cli {

std::vector<std::string> classNames(const ModelInfo& model) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (int c = 0; c < model.classes; ++c) {
    const std::string index = std::string("_").append(std::to_string(c));
    const bool named = c < static_cast<int>(model.facts.classes.size());
    std::string name = named ? model.facts.classes[c].name : "class" + index;
    while (!taken.insert(name).second) name += index;
    names.push_back(name);
  }
  return names;
}

}  // namespace mpm::cli
