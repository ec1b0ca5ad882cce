// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

namespace mpm {

/// A file that stands at its path whole or not at all: written beside it under a temporary name, then renamed. Links
/// are followed. What is no regular file (a device, a FIFO), or is what our own output goes to, is appended to as it
/// is.
class AtomicFile {
 public:
  /// Throws mpm::Error naming `path` and the cause when nothing can be written there.
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();  ///< without finish(): the path is as it was

  /// Append here.
  const std::string& place() const { return place_; }
  /// Everything is written, and the file closed. `synced`: it is on the disk before it takes its place, for what a
  /// power cut must not leave empty; a picture a second would be too much of that for an SD card.
  void finish(bool synced = false);

 private:
  std::string path_, target_, place_;
};

/// `path` holds these bytes or is as it was. Throws mpm::Error naming `path` and the cause (a full disk, no
/// permission), and leaves nothing behind. `synced` as of AtomicFile::finish().
void writeFileAtomically(const std::string& path, std::span<const char> bytes, bool synced = false);

/// Both lead to the same file, which need not exist.
bool sameFile(const std::string& a, const std::string& b);

}  // namespace mpm
