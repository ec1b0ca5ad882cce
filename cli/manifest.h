// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <span>
#include <string>

#include "cli/json_log.h"

namespace mpm::cli {

/// What is finished of a long work: a JsonLog whose first line has the settings, and each other line an image. A run
/// that was killed goes on where the file ends.
class Manifest {
 public:
  /// `images`: the names of all. Throws mpm::Error as JsonLog does, when the file is of other settings, and naming the
  /// line of an image that is none of these or occurs twice.
  Manifest(const std::string& path, const Json& settings, const std::set<std::string>& images);

  /// The images that were finished before. Each line has "name", the stem of the image file.
  std::span<const JsonValue> entries() const;
  bool contains(const std::string& name) const { return names_.contains(name); }
  /// The image of this entry is finished. Returns when the line is on the disk.
  void append(const Json& entry);

 private:
  JsonLog log_;
  std::set<std::string> names_;
};

/// The path and the bytes of a file: settings that tell one model from another.
Json fileIdentity(const std::string& path);

}  // namespace mpm::cli
