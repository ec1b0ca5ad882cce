// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <vector>

#include "vision/source_spec.h"

namespace mpm::vision {

struct Frame {
  cv::Mat image;       ///< CV_8UC3 BGR
  std::string name;    ///< fit for a file name: the image's stem, or STEM_000012 for a video or stream, camera0_000012
  std::string source;  ///< the image's path, else the source as the user wrote it; without credentials
  int index = 0;       ///< 0-based within the source
  cv::Mat labels{};    ///< CV_8U class of each pixel where the source knows the truth (demo:), else empty
  // The moment that the frame shows, where the source knows it (demo:).
  std::optional<double> unix_time{};      ///< s
  std::optional<double> sun_elevation{};  ///< of its centre above the flat horizon, degrees
  std::optional<bool> night{};            ///< civil twilight is over
  int film = 0;  ///< which one of the source's this is of, from 0: the street of "demo:street?seed=1..8"
};

struct SourceOptions {
  double timeout_s = 10;  ///< for cameras and URLs: how long to wait for the first or the next frame
  /// Set it, from any thread or a signal handler, to end the source: next() returns nullopt, also while it waits for a
  /// camera. Must outlive the source.
  const std::atomic<bool>* stop = nullptr;
  /// Counts the reads of cameras and addresses that hang and were left behind, a thread each, until they return. With 8
  /// of them no further one is begun: openSource() throws. Null: one counter for all sources that have none.
  std::shared_ptr<std::atomic<int>> abandoned_reads{};
  /// Called by next() with a line that names the picture and what is wrong with it, for each of several pictures (of a
  /// folder, of a glob) that cannot be read; the next one is taken instead. Null: such a picture is an error.
  std::function<void(const std::string& why)> on_unreadable{};
  /// Turn and mirror pictures as their EXIF orientation says. False: the pixels as they are stored, which is how a
  /// label map beside the picture was drawn.
  bool upright = true;
};

/// Where images come from. Not thread-safe.
class FrameSource {
 public:
  virtual ~FrameSource() = default;
  /// The next frame; nullopt at the end. Throws mpm::Error naming the file or address when one cannot be read, or when
  /// a camera or address gives nothing within the time-out (a hanging read never hangs the caller).
  virtual std::optional<Frame> next() = 0;
  /// Number of frames, when it is known.
  virtual std::optional<int> size() const { return std::nullopt; }
};

/// Opens a source. Cameras, pipelines and rtsp:// give their latest frame and drop those that come while the caller is
/// busy; everything else gives every frame. Throws mpm::Error when there is no such thing.
std::unique_ptr<FrameSource> openSource(const SourceSpec& source, const SourceOptions& options = {});
inline std::unique_ptr<FrameSource> openSource(const std::string& text, const SourceOptions& options = {}) {
  return openSource(parseSourceSpec(text), options);
}

/// Who opens "demo:" sources. The scene registers itself here (scene/demo_source.h); without it openSource() refuses
/// them. Thread-safe.
using SourceOpener =
    std::function<std::unique_ptr<FrameSource>(const SourceSpec& source, const SourceOptions& options)>;
void setDemoSource(SourceOpener opener);

/// The files that openSource() would read now: images, or one video; none for cameras, URLs and the demo. Throws
/// mpm::Error when a folder or glob holds none.
std::vector<std::string> sourceFiles(const SourceSpec& source);

}  // namespace mpm::vision
