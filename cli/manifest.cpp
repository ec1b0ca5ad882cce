// SPDX-License-Identifier: Apache-2.0
#include "cli/manifest.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/atomic_file.h"
#include "mpm/error.hpp"

namespace mpm::cli {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error("cannot " + what + " the manifest '" + path + "': " + std::strerror(errno));
}

// The first setting that differs, as "'reduce' was \"none\" and is \"mpm:blocks=2,5\"".
std::string difference(const Json& before, const Json& now) {
  for (const auto& [key, value] : now.items()) {
    const Json old = before.is_object() && before.contains(key) ? before[key] : Json(nullptr);
    if (old != value) return "'" + key + "' was " + toLine(old) + " and is " + toLine(value);
  }
  return "";
}

}  // namespace

Manifest::Manifest(std::string path, const Json& settings) : path_(std::move(path)) {
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) fail(path_, "open");
  try {
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) fail(path_, "lock");
      throw Error("another process is working with the manifest '" + path_ + "'");
    }
    const std::string text = readFile(path_);
    const std::size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
    // Before anything is cut off: this may be a file of another kind, named by mistake.
    const Json before = Json::parse(text.substr(0, text.find('\n')), nullptr, false);
    if (whole > 0 ? !before.is_object() : !text.empty() && !text.starts_with("{\""))
      throw Error("'" + path_ + "' is not a manifest of --resume: name another file");
    if (whole > 0)
      if (const std::string changed = difference(before, settings); !changed.empty())
        throw Error("the manifest '" + path_ + "' is of other work: " + changed + ". Name another place for this work");
    if (whole < text.size() && ::ftruncate(file_, static_cast<off_t>(whole)) != 0) fail(path_, "cut");
    if (whole == 0) write(settings);
    int number = 1;
    for (std::size_t at = text.find('\n') + 1; whole > 0 && at < whole; at = text.find('\n', at) + 1) {
      Json json = Json::parse(text.substr(at, text.find('\n', at) - at), nullptr, false);
      ++number;
      if (!json.is_object() || !json.contains("name") || !json["name"].is_string())
        throw Error("line " + std::to_string(number) + " of the manifest '" + path_ +
                    "' is damaged: remove that line, and its image is done again");
      names_.insert(json["name"].get<std::string>());
      entries_.push_back(std::move(json));
    }
  } catch (...) {
    ::close(file_);
    throw;
  }
}

Manifest::~Manifest() { ::close(file_); }

void Manifest::append(const Json& entry) {
  write(entry);
  names_.insert(entry["name"].get<std::string>());
  entries_.push_back(entry);
}

void Manifest::write(const Json& line) {
  const std::string text = toLine(line) + '\n';
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(file_, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) fail(path_, "write");
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  if (::fdatasync(file_) != 0 && errno != EINVAL && errno != EROFS) fail(path_, "write");
}

Json fileIdentity(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return {{"path", path}, {"bytes", error ? Json(nullptr) : Json(bytes)}};
}

}  // namespace mpm::cli
