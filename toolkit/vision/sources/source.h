// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <vector>

#include "vision/sources/source_spec.h"
#include "vision/time.h"

namespace mpm::vision {

struct Frame {
  cv::Mat image;       ///< CV_8UC3 BGR
  std::string name;    ///< usable as a file name: the stem of the image file, or STEM_000012 for a video or camera
  std::string source;  ///< path of the image, else the source as the user wrote it, without credentials
  int index = 0;       ///< 0-based within the source; files that are not chosen count
  cv::Mat labels{};    ///< CV_8U true class of each pixel, where the source knows it (demo:), else empty
  // The time that the frame shows, where the source knows it (demo:, openArchive()).
  std::optional<double> unix_time{};      ///< s
  std::optional<double> sun_elevation{};  ///< of its centre above the flat horizon, degrees
  std::optional<bool> night{};            ///< civil twilight is over
  std::optional<double> media_time{};     ///< s since the start of a video file
  int film = 0;                           ///< index of the street in a source of several: "demo:street?seed=1..8"

  /// s, for the time between two frames of a source: unix_time or media_time.
  std::optional<double> seconds() const { return unix_time ? unix_time : media_time; }
};

struct SourceOptions {
  /// Of cameras and URLs: longest wait for the first or the next frame, not counting that for OpeningTurns.
  double timeout_s = 10;
  /// Set it to end the source, from any thread or a signal handler: next() then returns nullopt, also while it waits
  /// for a camera. Must outlive the source.
  const std::atomic<bool>* stop = nullptr;
  /// Number of abandoned reads: reads that hang, each on its own thread. A read that returns is subtracted. With 8
  /// of them SourceReader and openSource() of a live source throw. Null: one counter for all sources without their own.
  std::shared_ptr<std::atomic<int>> abandoned_reads{};
  /// Called by next() for an image of a folder or glob that cannot be read, with one line that names the image and the
  /// cause; next() goes on with the following image. So for a damaged frame of a video, and at the end of one that is
  /// cut off. Null: these are errors. Of a live source, damaged frames are left out in any case, and reported at times.
  /// `taken`: the time of the picture, where it has one of its own (openArchive()).
  std::function<void(const std::string& why, std::optional<UnixMs> taken)> on_unreadable{};
  /// Called by opening and by next() with a line for a person, or with an empty one while work or waiting takes long:
  /// it is no hang. Null: nobody listens.
  std::function<void(const std::string& text)> on_note{};
  /// For a folder or glob: true for the files that next() reads. Null: all of them.
  std::function<bool(const std::string& path)> chosen{};
  /// demo: act like a camera that gives one frame in this many seconds of the demo's clock; 0: at its own frame
  /// rate. A demo of several streets is then an error.
  std::optional<double> frame_step_s{};
  /// demo: begin after this moment (unix time, s) of the demo's own clock, unless the demo begins later anyway.
  std::optional<double> resume_after{};
};

/// On Earth, degrees.
struct GeoPosition {
  double latitude = 0;   ///< north
  double longitude = 0;  ///< east
  friend bool operator==(const GeoPosition&, const GeoPosition&) = default;
};

/// Where images come from. Not thread-safe.
class FrameSource {
 public:
  virtual ~FrameSource() = default;
  /// The next frame; nullopt at the end. Throws mpm::Error naming the file or URL when one cannot be read, or when a
  /// camera or URL gives no frame within the timeout. A read that hangs never blocks the caller for longer.
  virtual std::optional<Frame> next() = 0;
  /// Number of frames, when it is known.
  virtual std::optional<int> size() const { return std::nullopt; }
  /// Names of the classes in Frame::labels: label 0 means the first class. Empty: frames have no labels.
  virtual std::vector<std::string> classNames() const { return {}; }
  /// Where the camera stands, when it is known.
  virtual std::optional<GeoPosition> place() const { return std::nullopt; }
  /// For SourceReader. A source whose old frames may be dropped while the caller is busy gives the stem of its frame
  /// names: the reader numbers the frames that it hands out. nullopt: every frame is handed out.
  virtual std::optional<std::string> latestOnlyStem() const { return std::nullopt; }
};

/// Opens a source. Cameras, pipelines and rtsp:// URLs give their latest frame and drop the frames that arrive while
/// the caller is busy; other sources give every frame. Throws mpm::Error naming the source when it does not open.
std::unique_ptr<FrameSource> openSource(const SourceSpec& source, const SourceOptions& options = {});
inline std::unique_ptr<FrameSource> openSource(const std::string& text, const SourceOptions& options = {}) {
  return openSource(parseSourceSpec(text), options);
}

/// Same without a guard: opening, next() and the destructor may hang, and next() gives every frame. For SourceReader.
std::unique_ptr<FrameSource> openUnguarded(const SourceSpec& source, const SourceOptions& options);

/// Sets the function that opens "demo:" sources. The scene registers its own (scene/demo_source.h); without one
/// openSource() refuses them. Thread-safe.
using DemoOpener = std::function<std::unique_ptr<FrameSource>(const SourceSpec& source, const SourceOptions& options)>;
void setDemoSource(DemoOpener opener);

/// The files that openSource() would read now: images, or one video; none for cameras, URLs and the demo. Throws
/// mpm::Error when a folder or glob holds none.
std::vector<std::string> sourceFiles(const SourceSpec& source);

}  // namespace mpm::vision
