// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "vision/time.h"

namespace mpm::page {

/// The snapshots, time-lapses and recordings in folders (monitor::SnapshotWriter), by ids. Lists the folders again ten
/// seconds later at the earliest. Not thread-safe.
class StoredPictures {
 public:
  explicit StoredPictures(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  /// The latest of a source in [from, to), the newest first: a list of {"time", "frame", "overlay", "depth",
  /// "merge_map"}, the last four with the id of the picture, where there is one.
  Json latest(const std::string& source, UnixMs from, UnixMs to, std::size_t limit);
  /// The path of a picture that is listed under this id; nullopt: none is.
  std::optional<std::string> path(const std::string& id);

 private:
  void update();

  std::vector<std::string> folders_;
  std::optional<std::int64_t> updated_{};         // steady
  std::map<std::string, std::string> paths_{};    // by id: the name of the file, then the number of its folder
  std::map<std::string, std::string> sources_{};  // by the path without its ending
};

}  // namespace mpm::page
