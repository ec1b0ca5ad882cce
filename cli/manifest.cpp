// SPDX-License-Identifier: Apache-2.0
#include "cli/manifest.h"

#include <filesystem>

#include "base/visible_text.h"
#include "mpm/error.hpp"

namespace mpm::cli {
namespace {

// The first setting that differs, as "'reduce' was \"none\" and is \"mpm:blocks=2,5\"".
std::string difference(const Json& before, const Json& now) {
  Json all = now;
  all.update(before);
  for (const auto& [key, value] : all.items()) {
    const Json old = before.value(key, Json()), current = now.value(key, Json());
    if (old != current)
      return "'" + visibleText(key) + "' was " + visibleText(toLine(old)) + " and is " + visibleText(toLine(current));
  }
  return "";
}

}  // namespace

Manifest::Manifest(const std::string& path, const Json& settings, const std::set<std::string>& images)
    : log_(path, {"model", "reduce", "precision", "input"}) {
  if (log_.lines().empty()) {
    log_.append(settings);
  } else if (const std::string changed = difference(log_.lines().front().json(), settings); !changed.empty()) {
    throw Error("the manifest '" + path + "' is of other work: " + changed + ". Name another place for this work");
  }
  for (const JsonValue& entry : entries()) {
    const std::string name = entry.has("name") && entry.at("name").json().is_string() ? entry.at("name").text() : "";
    const std::string shown = "'" + visibleText(name) + "'", again = ": remove that line, and its image is done again";
    if (name.empty()) throw Error(entry.place() + " is damaged" + again);
    if (!images.contains(name))
      throw Error(entry.place() + " is of " + shown + ", which is none of the images: remove that line");
    if (!names_.insert(name).second)
      throw Error(entry.place() + " is of " + shown + " for the second time: remove that line");
  }
}

std::span<const JsonValue> Manifest::entries() const {
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
