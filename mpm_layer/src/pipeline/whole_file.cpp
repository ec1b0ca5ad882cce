// SPDX-License-Identifier: Apache-2.0
#include "pipeline/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "mpm/error.hpp"

namespace mpm {
namespace {

bool writeAll(int file, std::span<const unsigned char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

void writeWholeFile(const std::string& path, std::span<const unsigned char> bytes) {
  const std::string temporary = path + ".part" + std::to_string(::getpid());
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool whole = file >= 0;
  int cause = whole ? 0 : errno;
  const auto attempt = [&](bool succeeded) {
    if (!succeeded && whole) cause = errno;
    whole = whole && succeeded;
  };
  if (file >= 0) {
    attempt(writeAll(file, bytes));
    attempt(::close(file) == 0);
    if (whole) attempt(std::rename(temporary.c_str(), path.c_str()) == 0);
    if (!whole) ::unlink(temporary.c_str());
  }
  if (!whole) throw Error("cannot write '" + path + "': " + std::strerror(cause));
}

}  // namespace mpm
