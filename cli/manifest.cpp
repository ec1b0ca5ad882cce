// SPDX-License-Identifier: Apache-2.0
#include "cli/manifest.h"

#include <filesystem>

#include "mpm/error.hpp"

namespace mpm::cli {
namespace {

// The first setting that differs, as "'reduce' was \"none\" and is \"mpm:blocks=2,5\"".
std::string difference(const Json& before, const Json& now) {
  for (const auto& [key, value] : now.items()) {
    const Json old = before.value(key, Json());
    if (old != value) return "'" + key + "' was " + toLine(old) + " and is " + toLine(value);
  }
  return "";
}

}  // namespace

Manifest::Manifest(const std::string& path, const Json& settings) : log_(path) {
  if (log_.lines().empty()) {
    log_.append(settings);
  } else if (const std::string changed = difference(log_.lines().front(), settings); !changed.empty()) {
    throw Error("the manifest '" + path + "' is of other work: " + changed + ". Name another place for this work");
  }
  int line = 1;
  for (const Json& entry : entries()) {
    ++line;
    if (!entry.contains("name") || !entry["name"].is_string())
      throw Error("line " + std::to_string(line) + " of '" + path +
                  "' is damaged: remove that line, and its image is done again");
    names_.insert(entry["name"].get<std::string>());
  }
}

std::span<const Json> Manifest::entries() const {
  const std::span lines(log_.lines());
  return lines.subspan(lines.empty() ? 0 : 1);
}

void Manifest::append(const Json& entry) {
  log_.append(entry);
  names_.insert(entry["name"].get<std::string>());
}

Json fileIdentity(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return {{"path", path}, {"bytes", error ? Json(nullptr) : Json(bytes)}};
}

}  // namespace mpm::cli
