// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "vision/source.h"

namespace mpm::vision {

/// `image` as CV_8UC3 BGR, whatever depth and channels it has.
cv::Mat toBgr8(const cv::Mat& image);

/// STEM_000012.
std::string frameName(const std::string& stem, int index);

/// Whether the name or the first bytes of a file are those of an image.
bool isImageFile(const std::string& path);

/// Throws mpm::Error that says why when this user may not read the file.
void requireReadable(const std::string& path);

/// True once options.stop is set.
bool stopped(const SourceOptions& options);

/// Images, one per file, in the order given. A file that does not decode is an error when its turn comes, or,
/// of several, left to options.on_unreadable.
std::unique_ptr<FrameSource> openImages(std::vector<std::string> paths, const SourceOptions& options);

/// Null when no back end of OpenCV reads the file as a video.
std::unique_ptr<FrameSource> openVideo(const std::string& path, const SourceOptions& options);

/// Something that may hang in any call: what LiveSource runs on a thread of its own.
class Capture {
 public:
  virtual ~Capture() = default;
  virtual bool open() = 0;
  virtual bool read(cv::Mat& image) = 0;
};

struct LiveDescription {
  std::string shown;         ///< how errors and frames name it, without credentials
  std::string stem;          ///< of frame names
  bool latest_only = true;   ///< drop frames that the caller is too slow for
  bool end_is_error = true;  ///< a camera never ends, a stream may
  /// What is likely wrong, or how to find out, when it does not open. Null: nothing is known.
  std::function<std::string()> why_not_open{};
  /// Throws mpm::Error for a frame that is none as the source must give them. Null: any will do.
  std::function<void(const cv::Mat& frame)> check{};
};

/// Runs `capture` on its own thread and waits until it is open. Throws mpm::Error when it does not open in time. The
/// thread owns what it needs, so one that hangs for ever is left behind and costs its memory, nothing else; too many of
/// them (SourceOptions::abandoned_reads) are an error.
std::unique_ptr<FrameSource> openLive(std::shared_ptr<Capture> capture, LiveDescription description,
                                      const SourceOptions& options);

/// Why a camera ("/dev/video0") does not open, as far as its device tells.
std::string whyNoCamera(const std::string& device);

std::unique_ptr<FrameSource> openCamera(const SourceSpec& source, const SourceOptions& options);
std::unique_ptr<FrameSource> openUrl(const SourceSpec& source, const SourceOptions& options);
/// Throws mpm::Error for a pipeline without an appsink, or an OpenCV without GStreamer.
void checkPipeline(const std::string& pipeline);
/// Of a pipeline that checkPipeline() takes.
std::unique_ptr<FrameSource> openPipeline(const SourceSpec& source, const SourceOptions& options);

}  // namespace mpm::vision
