// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "mpm/options.hpp"
#include "program/terminal/output.h"

namespace mpm::cli {

/// A file of JSON objects, one per line, to which lines are only appended: what is there survives a kill. Only one
/// process at a time has it open. Not thread-safe.
class JsonLog {
 public:
  /// Opens the file, or makes it. Throws mpm::Error when it cannot be written, another process has it open, or as
  /// readJsonLines(): a file that is not ours stays as it is.
  JsonLog(std::string path, const std::vector<std::string>& keys);
  JsonLog(const JsonLog&) = delete;
  JsonLog& operator=(const JsonLog&) = delete;
  ~JsonLog();

  /// The lines that the file had when it was opened.
  const std::vector<JsonValue>& lines() const { return lines_; }
  /// Returns when the line is on the disk.
  void append(const Json& line);

 private:
  std::string path_;
  int file_ = -1;
  std::vector<JsonValue> lines_;
};

/// vision::pictureDigest() as text, which is equal while a file does not change; null if there is no such file.
Json fileDigest(const std::string& path);

/// fileDigest() of the policy or the rule that decides how tokens merge; null where no file does.
Json reduceDigest(const Reduction& reduction);

/// The lines of such a file. Throws mpm::Error naming the file when its first line lacks one of these keys, by which
/// our files are known; naming the line that is no JSON object, or has no end because the power went.
std::vector<JsonValue> readJsonLines(const std::string& path, const std::vector<std::string>& keys);

/// The finished part of a long work: a JsonLog whose first line has the settings, and each other line an image. A run
/// that was killed goes on where the file ends.
class Manifest {
 public:
  /// `images`: the files of all, by their names. Throws mpm::Error as JsonLog does, when the file is of other settings,
  /// and naming the line of an image that is none of these, has changed since or occurs twice.
  Manifest(const std::string& path, const Json& settings, std::map<std::string, std::string> images);

  /// The images that were finished before. Each line has "name", as imageName() gives it, and "picture_digest".
  std::span<const JsonValue> entries() const;
  bool contains(const std::string& name) const { return names_.contains(name); }
  /// The image of this entry, with its "name", is finished. Adds its digest. Returns when the line is on the disk.
  void append(Json entry);

 private:
  JsonLog log_;
  std::map<std::string, std::string> images_;
  std::set<std::string> names_;
};

}  // namespace mpm::cli
