// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace mpm {

/// A file that is open for reading. It stays this file when another one is renamed over its path. Thread-safe.
class OpenFile {
 public:
  /// Throws mpm::Error, without the name of the file.
  explicit OpenFile(const std::filesystem::path& path);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor() const { return file_; }
  std::uint64_t size() const { return size_; }
  /// Device, inode, size and the time of the last change when it was opened: the same for the same bytes.
  const std::string& identity() const { return identity_; }

  /// Copies `count` bytes from `offset` on. Throws mpm::Error when the file has become shorter, and when it cannot be
  /// read.
  void read(std::uint64_t offset, void* bytes, std::size_t count) const;
  /// Throws mpm::Error when the file was written since it was opened.
  void requireUnchanged() const;

 private:
  int file_;
  std::uint64_t size_ = 0;
  std::string identity_;
};

}  // namespace mpm
