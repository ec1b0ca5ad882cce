// SPDX-License-Identifier: Apache-2.0
#include "vision/sources/source_spec.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>

#include "vision/sources/sources.h"

namespace mpm::vision {
namespace {

namespace fs = std::filesystem;

// With the links of the folders resolved. Nothing of it needs to exist.
std::string absolutePath(const std::string& text) {
  std::error_code ignored;
  const fs::path absolute = fs::absolute(text, ignored);
  fs::path fixed, rest;  // from the first part with a wildcard on
  for (const fs::path& part : absolute) {
    const bool fixed_part = rest.empty() && part.string().find_first_of("*?[") == std::string::npos;
    (fixed_part ? fixed : rest) /= part;
  }
  if (fs::exists(absolute, ignored)) fixed = absolute, rest.clear();
  fs::path path = fs::weakly_canonical(fixed, ignored);
  if (!path.has_filename()) path = path.parent_path();
  return (rest.empty() ? path : path / rest).string();
}

bool isCameraNumber(const std::string& text) {
  return !text.empty() && text.size() <= 4 &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
}

}  // namespace

bool SourceSpec::isLive() const {
  return kind == SourceKind::kCamera || kind == SourceKind::kUrl || kind == SourceKind::kPipeline;
}

std::string SourceSpec::name() const {
  using enum SourceKind;
  std::error_code ignored;
  if (kind == kCamera) return fs::absolute(target, ignored).lexically_normal().string();
  const bool is_path = kind == kImage || kind == kVideo || kind == kFolder || kind == kGlob || kind == kMissing;
  return is_path && !text.empty() ? absolutePath(target) : shownText();
}

std::string SourceSpec::shownText() const { return redactCredentials(text); }

std::string SourceSpec::nameInMessages() const {
  if (kind != SourceKind::kCamera) return shownText();
  return "camera " + (camera_index >= 0 ? std::to_string(camera_index) : target);
}

SourceSpec parseSourceSpec(const std::string& text) {
  const auto is = [&](SourceKind kind) { return SourceSpec{kind, text, text}; };
  const auto isAfter = [&](SourceKind kind, std::size_t prefix) { return SourceSpec{kind, text, text.substr(prefix)}; };
  const auto isCamera = [&](const std::string& number) {
    const int index = std::stoi(number);
    return SourceSpec{SourceKind::kCamera, text, "/dev/video" + std::to_string(index), index};
  };
  std::error_code error;
  const fs::file_status status = fs::status(text, error);
  if (fs::is_regular_file(status)) return is(isImageFile(text) ? SourceKind::kImage : SourceKind::kVideo);
  if (fs::is_directory(status)) return is(SourceKind::kFolder);
  if (fs::is_character_file(status)) return is(SourceKind::kCamera);
  if (fs::exists(status)) return is(SourceKind::kMissing);
  if (text.starts_with("demo:")) return isAfter(SourceKind::kDemo, 5);
  if (text.starts_with("gst:")) return isAfter(SourceKind::kPipeline, 4);
  if (text.starts_with("camera:") && isCameraNumber(text.substr(7))) return isCamera(text.substr(7));
  if (text.find("://") != std::string::npos) return is(SourceKind::kUrl);
  if (text.starts_with("/dev/") && !text.starts_with("/dev/shm/")) return is(SourceKind::kCamera);  // unplugged
  if (isCameraNumber(text)) return isCamera(text);
  const bool glob = text.find_first_of("*?[") != std::string::npos && error != std::errc::permission_denied;
  return is(glob ? SourceKind::kGlob : SourceKind::kMissing);
}

}  // namespace mpm::vision
