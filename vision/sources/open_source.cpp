// SPDX-License-Identifier: Apache-2.0
#include <glob.h>

#include <algorithm>
#include <array>
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

bool looksLikeImage(const fs::path& path) {
  static constexpr std::array kExtensions = {".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp",
                                             ".ppm", ".pgm", ".pbm",  ".jp2", ".exr", ".hdr"};
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
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
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> expandGlob(const std::string& pattern) {
  glob_t found{};
  const int status = ::glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (status != 0 || paths.empty()) throw Error("no file matches '" + pattern + "'");
  return paths;
}

std::unique_ptr<FrameSource> openFile(const std::string& path, const SourceOptions& options) {
  std::error_code error;
  if (fs::file_size(path, error) == 0 && !error) throw Error("'" + path + "' is empty");
  requireReadable(path);
  if (fs::path(path).extension() == ".onnx") throw Error("'" + path + "' is a model, no picture: give it with --model");
  bool image = looksLikeImage(path);  // a damaged one is no video
  try {
    image = image || cv::haveImageReader(path);
  } catch (const cv::Exception&) {  // a file that cannot be opened
  }
  if (image) return openImages({path}, options);
  if (auto video = openVideo(path, options)) return video;
  throw Error("'" + path + "' is neither an image nor a video that OpenCV can read");
}

bool isCameraNumber(const std::string& text) {
  return text.size() <= 4 && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

std::mutex demo_mutex;
SourceOpener& demoOpener() {  // guarded by demo_mutex
  static SourceOpener opener;
  return opener;
}

std::unique_ptr<FrameSource> openDemo(const std::string& text, const SourceOptions& options) {
  const std::lock_guard lock(demo_mutex);
  if (!demoOpener()) throw Error("'" + text + "': this program was built without the rendered scene");
  return demoOpener()(text, options);
}

bool isGlob(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

}  // namespace

void setDemoSource(SourceOpener opener) {
  const std::lock_guard lock(demo_mutex);
  demoOpener() = std::move(opener);
}

std::vector<std::string> sourceFiles(const std::string& text) {
  if (text.starts_with("demo:") || text.starts_with("gst:") || text.find("://") != std::string::npos) return {};
  std::error_code error;
  const fs::file_status status = fs::status(text, error);
  if (fs::is_directory(status)) return imagesOfFolder(text);
  if (fs::is_regular_file(status)) return {text};
  if (fs::exists(status) || !isGlob(text)) return {};
  return expandGlob(text);
}

void checkSource(const std::string& text) {
  if (text.empty()) throw Error("the source is empty: name an image, a folder, a video, a camera or a URL");
  if (text.starts_with("demo:")) return;
  if (text.starts_with("gst:")) return checkPipeline(text);
  const auto colon = text.find("://");
  if (colon == std::string::npos) return;
  const std::string scheme = text.substr(0, colon);
  for (const char* known : {"rtsp", "rtsps", "http", "https"})
    if (scheme == known) return;
  throw Error("'" + scheme + "://' is not a kind of address that is read here: rtsp, http or https");
}

std::unique_ptr<FrameSource> openSource(const std::string& text, const SourceOptions& options) {
  checkSource(text);
  if (!(options.timeout_s > 0)) throw Error("the time-out of a source must be positive");
  if (text.starts_with("demo:")) return openDemo(text, options);
  if (text.starts_with("gst:")) return openPipeline(text, options);
  if (text.find("://") != std::string::npos) return openUrl(text, options);
  std::error_code error;
  const fs::file_status status = fs::status(text, error);
  if (fs::is_directory(status)) return openImages(imagesOfFolder(text), options);
  if (fs::is_regular_file(status)) return openFile(text, options);
  if (fs::is_character_file(status)) return openCamera(text, options);
  if (error == std::errc::permission_denied) throw Error("cannot read '" + text + "': " + error.message());
  if (fs::exists(status)) throw Error("'" + text + "' is neither a file nor a folder");
  if (text.starts_with("/dev/video")) return openCamera(text, options);
  if (isCameraNumber(text)) return openCamera(text, options);
  if (isGlob(text)) return openImages(expandGlob(text), options);
  throw Error("there is no file or folder '" + text + "'");
}

}  // namespace mpm::vision
