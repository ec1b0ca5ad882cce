// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mpm::monitor {

/// Notices that files which were read are others now, by a rename or a write, once they have stopped changing: so that
/// none is read half written, nor one of two without the other. Not thread-safe.
class FollowedFiles {
 public:
  /// When the files are read: after the object is made, or before, so that what they are now counts as a change.
  enum class Read { kLater, kEarlier };

  /// The first of the files must exist; another one may come and go.
  explicit FollowedFiles(std::vector<std::string> files = {}, Read read = Read::kLater);

  /// True once after each change, when two looks agree. Looks at most once in two seconds of `steady`, ms.
  bool changed(std::int64_t steady);
  /// The files are those that they were when the object was made, or changed() was true.
  bool asBefore() const;

 private:
  std::vector<std::string> files_;
  std::string before_, seen_;
  std::int64_t next_look_ = 0;
};

}  // namespace mpm::monitor
