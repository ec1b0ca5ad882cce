// SPDX-License-Identifier: Apache-2.0
#include <glob.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/case_conv.hpp>
#include <filesystem>
#include <mutex>
#include <opencv2/imgcodecs.hpp>
#include <system_error>

#include "mpm/error.hpp"
#include "vision/sources/sources.h"

namespace mpm::vision {
namespace {

namespace fs = std::filesystem;

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

std::unique_ptr<FrameSource> openFile(const SourceSpec& source, const SourceOptions& options) {
  const std::string& path = source.target;
  std::error_code error;
  if (fs::file_size(path, error) == 0 && !error) throw Error("'" + path + "' is empty");
  requireReadable(path);
  if (fs::path(path).extension() == ".onnx") throw Error("'" + path + "' is a model, not a picture: use --model");
  if (source.kind == SourceKind::kImage) return openImages({path}, options);
  if (auto video = openVideo(path, options)) return video;
  throw Error("'" + path + "' is neither an image nor a video that OpenCV can read");
}

std::mutex demo_mutex;
SourceOpener& demoOpener() {  // guarded by demo_mutex
  static SourceOpener opener;
  return opener;
}

std::unique_ptr<FrameSource> openDemo(const SourceSpec& source, const SourceOptions& options) {
  const std::lock_guard lock(demo_mutex);
  if (!demoOpener())
    throw Error("'" + source.text + "': this program was built without the renderer (MPM_WITH_SCENE=OFF)");
  return demoOpener()(source, options);
}

[[noreturn]] void refuseMissing(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error == std::errc::permission_denied) throw Error("cannot read '" + path + "': " + error.message());
  if (fs::exists(status)) throw Error("'" + path + "' is neither a file nor a folder");
  throw Error("there is no file or folder '" + path + "'");
}

}  // namespace

bool isImageFile(const std::string& path) {
  if (looksLikeImage(path)) return true;  // a damaged one as well
  try {
    return cv::haveImageReader(path);
  } catch (const cv::Exception&) {  // a file that cannot be opened
    return false;
  }
}

void setDemoSource(SourceOpener opener) {
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
  if (source.kind == SourceKind::kPipeline) checkPipeline(text);
  if (source.kind != SourceKind::kUrl) return;
  const std::string scheme = text.substr(0, text.find("://"));
  for (const char* known : {"rtsp", "rtsps", "http", "https"})
    if (scheme == known) return;
  throw Error("'" + scheme + "://' is not supported: use an rtsp, http or https URL");
}

std::unique_ptr<FrameSource> openUnguarded(const SourceSpec& source, const SourceOptions& options) {
  checkSource(source);
  switch (source.kind) {
    case SourceKind::kImage:
    case SourceKind::kVideo:
      return openFile(source, options);
    case SourceKind::kFolder:
    case SourceKind::kGlob:
      return openImages(sourceFiles(source), options);
    case SourceKind::kCamera:
      return openCamera(source);
    case SourceKind::kUrl:
      return openUrl(source, options);
    case SourceKind::kPipeline:
      return openPipeline(source);
    case SourceKind::kDemo:
      return openDemo(source, options);
    case SourceKind::kMissing:
      break;
  }
  refuseMissing(source.target);
}

std::unique_ptr<FrameSource> openSource(const SourceSpec& source, const SourceOptions& options) {
  if (!(options.timeout_s > 0)) throw Error("the timeout of a source must be positive");
  if (!source.isLive()) return openUnguarded(source, options);
  return openGuarded(
      source.nameInMessages(), [source](const SourceOptions& own) { return openUnguarded(source, own); }, options);
}

}  // namespace mpm::vision
