// SPDX-License-Identifier: Apache-2.0
#include <glob.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/case_conv.hpp>
#include <cctype>
#include <filesystem>
#include <mutex>
#include <opencv2/imgcodecs.hpp>
#include <system_error>

#include "mpm/error.hpp"
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

bool looksLikeImage(const fs::path& path) {
  static constexpr std::array kExtensions = {".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp",
                                             ".ppm", ".pgm", ".pbm",  ".jp2", ".exr", ".hdr"};
  const std::string extension = boost::algorithm::to_lower_copy(path.extension().string());
  return std::ranges::find(kExtensions, extension) != kExtensions.end();
}

std::vector<std::string> imagesOfFolder(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code skipped;  // a link to itself, or a folder above that may not be read
    if (looksLikeImage(entry->path()) && !entry->path().filename().string().starts_with('.') &&
        entry->is_regular_file(skipped))
      paths.push_back(entry->path().string());
  }
  if (error) throw Error("cannot read folder '" + folder + "': " + error.message());
  if (paths.empty()) throw Error("folder '" + folder + "' holds no image (png, jpg, bmp, tif, webp, ...)");
  std::ranges::sort(paths);
  return paths;
}

std::vector<std::string> expandGlob(const std::string& pattern) {
  glob_t found{};
  const int status = ::glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (status != 0) throw Error("no file matches '" + pattern + "'");
  return paths;
}

std::mutex demo_mutex;
// Guarded by demo_mutex. Inside a function, as it is set before main() by the tests.
DemoOpener& demoOpener() {
  static DemoOpener opener;
  return opener;
}

}  // namespace

bool SourceSpec::isLive() const {
  return kind == SourceKind::kCamera || kind == SourceKind::kUrl || kind == SourceKind::kPipeline;
}

bool SourceSpec::isImages() const { return kind == SourceKind::kImage || isFolder(); }

std::string SourceSpec::name() const {
  using enum SourceKind;
  std::error_code ignored;
  if (kind == kCamera) return fs::absolute(target, ignored).lexically_normal().string();
  const bool is_path = isImages() || kind == kVideo || kind == kMissing;
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
  if (isSceneName(text)) return isAfter(SourceKind::kDemo, 5);
  if (text.starts_with("gst:")) return isAfter(SourceKind::kPipeline, 4);
  if (text.starts_with("camera:") && isCameraNumber(text.substr(7))) return isCamera(text.substr(7));
  if (text.find("://") != std::string::npos) return is(SourceKind::kUrl);
  if (text.starts_with("/dev/") && !text.starts_with("/dev/shm/")) return is(SourceKind::kCamera);  // unplugged
  if (isCameraNumber(text)) return isCamera(text);
  const bool glob = text.find_first_of("*?[") != std::string::npos && error != std::errc::permission_denied;
  return is(glob ? SourceKind::kGlob : SourceKind::kMissing);
}

bool isImageFile(const std::string& path) {
  if (looksLikeImage(path)) return true;  // a damaged one as well
  try {
    return cv::haveImageReader(path);
  } catch (const cv::Exception&) {  // a file that cannot be opened
    return false;
  }
}

void setDemoSource(DemoOpener opener) {
  const std::lock_guard lock(demo_mutex);
  demoOpener() = std::move(opener);
}

std::vector<std::string> sourceFiles(const SourceSpec& source) {
  if (source.kind == SourceKind::kImage || source.kind == SourceKind::kVideo) return {source.target};
  if (source.kind == SourceKind::kFolder) return imagesOfFolder(source.target);
  if (source.kind == SourceKind::kGlob) return expandGlob(source.target);
  return {};
}

void checkSource(const SourceSpec& source) {
  const std::string& text = source.text;
  if (text.empty()) throw Error("the source is empty: name an image, a folder, a video, a camera or a URL");
  if (source.kind == SourceKind::kMissing && text.starts_with("camera:"))
    throw Error("'" + text + "' has no camera number: write for example camera:0");
  const bool url = source.kind == SourceKind::kUrl, pipeline = source.kind == SourceKind::kPipeline;
  // A "***" that is read back would be sent to the camera as the password.
  if ((url || pipeline) && text.find(kHiddenCredential) != std::string::npos) {
    throw Error("the password of '" + source.shownText() +
                "' was not written down: name the whole source ('mpm monitor' takes it from MPM_SOURCE)");
  }
  if (pipeline) checkPipeline(text);
  if (!url) return;
  const std::string scheme = text.substr(0, text.find("://"));
  for (const char* known : {"rtsp", "rtsps", "http", "https"})
    if (scheme == known) return;
  throw Error("'" + scheme + "://' is not supported: use an rtsp, http or https URL");
}

std::unique_ptr<FrameSource> openUnguarded(const SourceSpec& source, const SourceOptions& options) {
  checkSource(source);
  using enum SourceKind;
  if (source.kind == kImage || source.kind == kVideo) return openFile(source, options);
  if (source.isFolder()) return openImages(sourceFiles(source), options);
  if (source.kind == kCamera) return openCamera(source, options);
  if (source.kind == kUrl) return openUrl(source, options);
  if (source.kind == kPipeline) return openPipeline(source, options);
  if (source.kind == kDemo) {
    const std::lock_guard lock(demo_mutex);
    if (!demoOpener())
      throw Error("'" + source.text + "': this program was built without the renderer (MPM_WITH_SCENE=OFF)");
    return demoOpener()(source, options);
  }
  const std::string& path = source.target;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error == std::errc::permission_denied) throw Error("cannot read '" + path + "': " + error.message());
  if (fs::exists(status)) throw Error("'" + path + "' is neither a file nor a folder");
  throw Error("there is no file or folder '" + path + "'");
}

std::unique_ptr<FrameSource> openSource(const SourceSpec& source, const SourceOptions& options) {
  if (!(options.timeout_s > 0)) throw Error("the timeout of a source must be positive");
  if (!source.isLive()) return openUnguarded(source, options);
  return openGuarded(
      source.nameInMessages(), [source](const SourceOptions& own) { return openUnguarded(source, own); }, options);
}

}  // namespace mpm::vision
