// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mpm {

/// Who may read a file: whom the umask lets, or of these only the owner and the group (0640 at most). Whom a
/// file was kept from cannot read the one that replaces it, either.
enum class Readers { kByUmask, kGroup };

/// Writes a file completely or not at all: under a temporary name in the same folder, then renamed. Follows links. A
/// target that is not a regular file (a device, a FIFO), or is our own standard output, is appended to directly.
class AtomicFile {
 public:
  /// `ending`: of place(), for a library that goes by it. Throws mpm::Error naming `path` and the cause when nothing
  /// can be written there.
  explicit AtomicFile(const std::string& path, const std::string& ending = "", Readers readers = Readers::kByUmask);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();  ///< without finish(): leaves the path unchanged

  /// The path to write to: open it for appending.
  const std::string& place() const { return place_; }
  /// Appends. Throws mpm::Error naming the path and the cause.
  void write(std::string_view bytes) const;
  /// Writes the data to the disk, so that a power cut cannot leave an empty file. Call it when everything is written
  /// and the file is closed. Do not use it for a picture per second: it wears out an SD card.
  void sync();
  /// The rename. Call it when everything is written and the file is closed.
  void finish();

 private:
  std::string path_, target_, place_;
};

/// Writes `bytes` to `path`, or leaves `path` unchanged. Throws mpm::Error naming `path` and the cause (a full disk, no
/// permission), and leaves no temporary file. `synced`: see AtomicFile::sync().
void writeFileAtomically(const std::string& path, std::string_view bytes, bool synced = false,
                         Readers readers = Readers::kByUmask);

/// Writes files that belong together, {path, bytes}: all are on the disk before the first replaces an old one, in
/// this order. Only a kill between two renames leaves some old.
void writeFilesAtomically(const std::vector<std::pair<std::string, std::string_view>>& files);

/// All bytes of a regular file of at most `most`. Throws mpm::Error naming `path` and the cause; a device or a FIFO is
/// refused, not waited for.
std::string readFile(const std::string& path, std::uintmax_t most = std::uintmax_t{1} << 40);

/// For a copy of this file: kGroup where nobody else may read the file.
Readers readersOf(const std::string& path);

/// A text that is equal for all paths that lead to the same file, which need not exist: to compare many.
std::string fileKey(const std::string& path);
/// True when both paths lead to the same file, which need not exist.
bool sameFile(const std::string& a, const std::string& b);

}  // namespace mpm
