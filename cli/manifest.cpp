// SPDX-License-Identifier: Apache-2.0
#include "cli/manifest.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/atomic_file.h"
#include "base/hash.h"
#include "base/visible_text.h"
#include "cli/python_rule.h"
#include "mpm/error.hpp"
#include "vision/pictures/pictures.h"

namespace mpm::cli {

using namespace program;
namespace {

[[noreturn]] void cannot(const std::string& what, const std::string& path) {
  throw Error("cannot " + what + " '" + path + "': " + std::strerror(errno));
}

// The first setting that differs, as "'reduce' was \"none\" and is \"mpm:blocks=2,5\"".
std::string difference(const Json& before, const Json& now) {
  Json all = now;
  all.update(before);
  for (const auto& [key, value] : all.items()) {
    // Unlike Json, this type compares objects whatever the order of their keys, which other programs may change.
    const nlohmann::json old = before.value(key, Json()), current = now.value(key, Json());
    if (old != current)
      return "'" + visibleText(key) + "' was " + visibleText(toLine(old)) + " and is " + visibleText(toLine(current));
  }
  return "";
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
  const off_t before = ::lseek(file_, 0, SEEK_END);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(file_, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) {
      const int why = errno;
      if (::ftruncate(file_, before) == 0) errno = why;  // no line is left in part
      cannot("write", path_);
    }
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  if (::fdatasync(file_) != 0 && errno != EINVAL && errno != EROFS) cannot("write", path_);
}

Json fileDigest(const std::string& path) {
  const std::int64_t digest = vision::pictureDigest(path);
  return digest == 0 ? Json() : Json(digestText(static_cast<std::uint64_t>(digest)));
}

Json reduceDigest(const Reduction& reduction) {
  return fileDigest(reduction.policy.empty() ? ruleFile(reduction) : reduction.policy);
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
      if (from == 0) {
        throw Error("'" + path +
                    "' is not a manifest or a file of results of this version of the command, and stays as it is: " +
                    "name another file or folder");
      }
      throw Error(what + " is damaged: remove that line, and its work is done again");
    }
  }
  return lines;
}

Manifest::Manifest(const std::string& path, const Json& settings, std::map<std::string, std::string> images)
    : log_(path, {"model", "reduce", "precision", "input"}), images_(std::move(images)) {
  if (log_.lines().empty()) {
    log_.append(settings);
  } else if (const std::string changed = difference(log_.lines().front().json(), settings); !changed.empty()) {
    throw Error("the manifest '" + path + "' is of other work: " + changed + ". Name another place for this work");
  }
  for (const JsonValue& entry : entries()) {
    const std::string name = entry.has("name") && entry.at("name").json().is_string() ? entry.at("name").text() : "";
    const std::string shown = "'" + visibleText(name) + "'", again = ": remove that line, and its image is done again";
    if (name.empty()) throw Error(entry.place() + " is damaged" + again);
    const auto image = images_.find(name);
    if (image == images_.end())
      throw Error(entry.place() + " is of " + shown + ", which is none of the images: remove that line");
    if (entry.json().value("picture_digest", Json()) != fileDigest(image->second))
      throw Error(entry.place() + " is not of " + shown + " as it is now" + again);
    if (!names_.insert(name).second)
      throw Error(entry.place() + " is of " + shown + " for the second time: remove that line");
  }
}

std::span<const JsonValue> Manifest::entries() const {
  const std::span lines(log_.lines());
  return lines.subspan(lines.empty() ? 0 : 1);
}

void Manifest::append(Json entry) {
  const std::string name = entry["name"];
  entry["picture_digest"] = fileDigest(images_.at(name));
  log_.append(entry);
  names_.insert(name);
}

}  // namespace mpm::cli
