// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace mpm::vision {

enum class SourceKind {
  kImage,
  kVideo,     ///< a file that is not an image
  kFolder,    ///< of images
  kGlob,      ///< "street/*.png"
  kCamera,    ///< "0", "camera:0", "/dev/video0"
  kUrl,       ///< "rtsp://camera/stream"
  kPipeline,  ///< of GStreamer: "gst:v4l2src ! videoconvert ! video/x-raw,format=BGR ! appsink"
  kDemo,      ///< the rendered street: "demo:street?weather=rain"
  kMissing,   ///< none of these: a path without a file, folder or camera
};

/// The kind and the parts of a source, from its text by parseSourceSpec().
struct SourceSpec {
  SourceKind kind = SourceKind::kMissing;
  std::string text{};     ///< as the user wrote it; may hold a password
  std::string target{};   ///< path, glob or URL; the device of a camera; `text` without "gst:" or "demo:"
  int camera_index = -1;  ///< of a camera that was named by its number

  /// True for cameras, URLs and pipelines: a read may fail or hang, and a later one may work again.
  bool isLive() const;
  /// True for an image, a folder and a glob: each frame is an image file, one of sourceFiles().
  bool isImages() const;
  /// True for a folder and a glob: any number of image files, which one can look through.
  bool isFolder() const { return kind == SourceKind::kFolder || kind == SourceKind::kGlob; }
  /// The one name that this source is stored under, however it was typed: the absolute path of a file, folder or glob
  /// with links resolved, the device of a camera, else shownText(). Asks the file system.
  std::string name() const;
  /// `text` with user names and passwords replaced by "***".
  std::string shownText() const;
  /// "camera 0", "camera /dev/video0"; shownText() of every other kind.
  std::string nameInMessages() const;
};

/// Decides what `text` means. An existing path wins over every other reading; "camera:2026" is camera 2026 even where a
/// folder 2026 exists; a number of at most 4 digits is a camera, and so is a path below /dev (but not below /dev/shm)
/// that does not exist at the moment. Opens no camera and no URL; never throws.
SourceSpec parseSourceSpec(const std::string& text);

/// True for the name() of a scene, such as "demo:street". Does not ask the file system, unlike parseSourceSpec(): a
/// name that was stored says what the source was then, and the disk of another source may hang.
constexpr bool isSceneName(std::string_view name) { return name.starts_with("demo:"); }

/// What redactCredentials() writes in place of a user name and a password.
inline constexpr const char* kHiddenCredential = "***";

/// Throws mpm::Error for what openSource() can never open: an empty text, a camera without a number, a URL of an
/// unknown kind, a URL or pipeline whose password is kHiddenCredential, a pipeline without an appsink or with an OpenCV
/// that lacks GStreamer. Opens nothing.
void checkSource(const SourceSpec& source);

/// `text` with user names and passwords replaced by kHiddenCredential: in URLs, their paths and queries (user=, pwd=,
/// token=, ...) and in the properties of GStreamer pipelines. Host, path and channel stay: the result still names the
/// source.
std::string redactCredentials(const std::string& text);

}  // namespace mpm::vision
