// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace mpm {

/// Writes a file completely or not at all: under a temporary name in the same folder, then renamed. Follows links. A
/// target that is not a regular file (a device, a FIFO), or is our own standard output, is appended to directly.
class AtomicFile {
 public:
  /// Throws mpm::Error naming `path` and the cause when nothing can be written there.
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();  ///< without finish(): leaves the path unchanged

  /// The path to write to: open it for appending.
  const std::string& place() const { return place_; }
  /// Call it when everything is written and the file is closed. `synced` writes the data to the disk before the rename,
  /// so that a power cut cannot leave an empty file. Do not use it for a picture per second: it wears out an SD card.
  void finish(bool synced = false);

 private:
  std::string path_, target_, place_;
};

/// Writes `bytes` to `path`, or leaves `path` unchanged. Throws mpm::Error naming `path` and the cause (a full disk, no
/// permission), and leaves no temporary file. `synced`: see AtomicFile::finish().
void writeFileAtomically(const std::string& path, std::string_view bytes, bool synced = false);

/// All bytes of a file. Throws mpm::Error naming `path` and the cause.
std::string readFile(const std::string& path);

/// True when both paths lead to the same file, which need not exist.
bool sameFile(const std::string& a, const std::string& b);

}  // namespace mpm
