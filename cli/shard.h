// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <set>
#include <string>
#include <vector>

#include "mpm/reuse.hpp"

namespace mpm::cli {

/// One of several equal parts of the images, for one of several machines.
struct Shard {
  int number = 1, of = 1;

  bool isWhole() const { return of == 1; }
  /// Whether the image is in this part. Only the file name decides: other files, and the folder that the images are
  /// in, make no difference.
  bool contains(const std::string& path) const;
  /// "2/8".
  std::string text() const { return std::to_string(number) + "/" + std::to_string(of); }
};

/// Reads "2/8". Throws mpm::Error for a text that is no shard.
Shard parseShard(const std::string& text);

/// --shard.
void addShard(CLI::App& verb, Shard& shard);

/// For work on parts of the images: throws UsageError unless all sources are image files, each with another name, so
/// that what is written about one of them replaces nothing of another. Returns their names.
std::set<std::string> requireNamedImages(const std::string& option, const std::vector<std::string>& sources);

/// Reuse needs all frames in their order: throws UsageError for one that is on, beside --shard or --resume.
void requireAllFrames(const Reuse& reuse, const Shard& shard, bool resumes);

}  // namespace mpm::cli
