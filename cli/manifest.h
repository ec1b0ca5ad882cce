// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/terminal/output.h"

namespace mpm::cli {

/// What is finished of a long work: a file of JSON lines, the first for the settings, then one for each image. A run
/// that was killed goes on where the file ends. Only one process at a time has it open. Not thread-safe.
class Manifest {
 public:
  /// Opens the file, or makes it. What a killed run wrote of its last line is cut off. Throws mpm::Error when the file
  /// is of other settings, damaged, in use, or cannot be written.
  Manifest(std::string path, const Json& settings);
  Manifest(const Manifest&) = delete;
  Manifest& operator=(const Manifest&) = delete;
  ~Manifest();

  /// The lines of the images that are finished. Each has "name", the stem of the image file.
  const std::vector<Json>& entries() const { return entries_; }
  bool contains(const std::string& name) const { return names_.contains(name); }
  /// The image of this entry is finished. Returns when the line is on the disk.
  void append(const Json& entry);

 private:
  void write(const Json& line);

  std::string path_;
  int file_ = -1;
  std::vector<Json> entries_;
  std::set<std::string> names_;
};

/// The bytes of a file, as settings that tell one model from another: {"path", "bytes"}.
Json fileIdentity(const std::string& path);

}  // namespace mpm::cli
