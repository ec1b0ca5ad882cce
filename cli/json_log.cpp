// SPDX-License-Identifier: Apache-2.0
#include "cli/json_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/atomic_file.h"
#include "mpm/error.hpp"

namespace mpm::cli {
namespace {

[[noreturn]] void cannot(const std::string& what, const std::string& path) {
  throw Error("cannot " + what + " '" + path + "': " + std::strerror(errno));
}

}  // namespace

JsonLog::JsonLog(std::string path) : path_(std::move(path)) {
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) cannot("open", path_);
  try {
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) cannot("lock", path_);
      throw Error("another process is working with '" + path_ + "'");
    }
    lines_ = readJsonLines(path_);
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

std::vector<Json> readJsonLines(const std::string& path) {
  const std::string text = readFile(path);
  if (!text.empty() && !text.starts_with('{'))
    throw Error("'" + path + "' is not a manifest or a file of results: name another file");
  std::vector<Json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(Json::parse(line, nullptr, false));
    if (in.eof() || !lines.back().is_object())  // eof: the last one, without its end
      throw Error("line " + std::to_string(lines.size()) + " of '" + path +
                  "' is damaged: remove that line, and its work is done again");
  }
  return lines;
}

}  // namespace mpm::cli
