// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mpm::monitor {

/// Notices that files were replaced or written after they were read. It waits until they have stopped changing, so that
/// no file is read half written, and a model is not read without its JSON. Not thread-safe.
class FollowedFiles {
 public:
  /// When the caller reads the files: after the object is made, or before. If before, the files count as changed once,
  /// since they may have changed in between.
  enum class Read { kLater, kEarlier };

  /// The first of the files must exist; another one may come and go.
  explicit FollowedFiles(std::vector<std::string> files = {}, Read read = Read::kLater);

  /// Looks at the files, at most once in two seconds of `steady`, ms. True once after each change, at the second of two
  /// looks that find the same.
  bool changed(std::int64_t steady);
  /// Whether the files are the same as when the object was made, or when changed() was true last.
  bool asBefore() const;

 private:
  std::vector<std::string> files_;
  std::string before_, seen_;
  std::int64_t next_look_ = 0;
};

}  // namespace mpm::monitor
