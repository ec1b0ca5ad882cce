// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpm/model_info.hpp"

namespace mpm::vision {

/// The content of classes.json. The order of the classes gives their numbers in label maps.
struct ClassList {
  static constexpr std::size_t kMaxClasses = 255;

  std::vector<ClassInfo> classes;
  int ignore = 255;  ///< label of pixels that are not labelled

  int count() const { return static_cast<int>(classes.size()); }
  /// Throws mpm::Error that begins with `what`: two classes of one name, a class without a name, more than
  /// kMaxClasses.
  void validate(const std::string& what) const;
};

/// Reads classes.json, the .json beside a model, or a bare list. Throws mpm::Error naming the file.
ClassList readClassList(const std::string& path);
/// Writes {"classes", "ignore"}, whole or not at all. Throws mpm::Error naming the file.
void writeClassList(const std::string& path, const ClassList& list);

}  // namespace mpm::vision
