// SPDX-License-Identifier: Apache-2.0
#include "cli/json_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/atomic_file.h"
#include "mpm/error.hpp"

namespace mpm::cli {
namespace {

[[noreturn]] void cannot(const std::string& what, const std::string& path) {
  throw Error("cannot " + what + " '" + path + "': " + std::strerror(errno));
}

}  // namespace

JsonLog::JsonLog(std::string path, const std::vector<std::string>& keys) : path_(std::move(path)) {
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file_ < 0) cannot("open", path_);
  try {
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) cannot("lock", path_);
      throw Error("another process is working with '" + path_ + "'");
    }
    lines_ = readJsonLines(path_, keys);
  } catch (...) {
    ::close(file_);
    throw;
  }
}

JsonLog::~JsonLog() { ::close(file_); }

void JsonLog::append(const Json& line) {
  const std::string text = toLine(line) + '\n';
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(file_, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) cannot("write", path_);
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  if (::fdatasync(file_) != 0 && errno != EINVAL && errno != EROFS) cannot("write", path_);
}

std::vector<JsonValue> readJsonLines(const std::string& path, const std::vector<std::string>& keys) {
  constexpr std::uintmax_t kMost = 1U << 30;
  const std::string text = readFile(path, kMost);
  std::vector<JsonValue> lines;
  for (std::size_t from = 0, end = 0; from < text.size(); from = end + 1) {
    end = std::min(text.find('\n', from), text.size());
    const std::string what = "line " + std::to_string(lines.size() + 1) + " of '" + path + "'";
    try {
      lines.emplace_back(text.substr(from, end - from), what);
      if (end == text.size() || !lines.back().json().is_object()) throw Error("not a line of ours");
      if (lines.size() == 1)
        for (const std::string& key : keys) lines.back().at(key);
    } catch (const Error&) {
      if (from == 0)
        throw Error("'" + path +
                    "' is not a manifest or a file of results of this version of the command, and stays as it is: " +
                    "name another file or folder");
      throw Error(what + " is damaged: remove that line, and its work is done again");
    }
  }
  return lines;
}

}  // namespace mpm::cli
