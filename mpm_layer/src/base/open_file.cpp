// SPDX-License-Identifier: Apache-2.0
#include "base/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "mpm/error.hpp"

namespace mpm {
namespace {

std::string identityOf(const struct stat& status) {
  std::string text;
  for (const auto number : {static_cast<long long>(status.st_dev), static_cast<long long>(status.st_ino),
                            static_cast<long long>(status.st_size), static_cast<long long>(status.st_mtim.tv_sec),
                            static_cast<long long>(status.st_mtim.tv_nsec)})
    text += std::to_string(number) + ":";
  return text;
}

}  // namespace

OpenFile::OpenFile(const std::filesystem::path& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat status {};
  if (file_ >= 0 && ::fstat(file_, &status) == 0 && S_ISREG(status.st_mode)) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    identity_ = identityOf(status);
    return;
  }
  const int cause = errno;
  if (file_ >= 0) ::close(file_);
  throw Error(file_ >= 0        ? S_ISDIR(status.st_mode) ? "it is a folder" : "it is not a regular file"
              : cause == ENOENT ? "no such file"
                                : std::strerror(cause));
}

OpenFile::~OpenFile() { ::close(file_); }

void OpenFile::read(std::uint64_t offset, void* bytes, std::size_t count) const {
  auto* to = static_cast<char*>(bytes);
  while (count > 0) {
    const ssize_t got = ::pread(file_, to, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(std::strerror(errno));
    if (got == 0) throw Error("the file became shorter while it was read");
    to += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
}

void OpenFile::requireUnchanged() const {
  struct stat status {};
  if (::fstat(file_, &status) != 0 || identityOf(status) != identity_)
    throw Error("the file was written while it was read: read it again");
}

}  // namespace mpm
