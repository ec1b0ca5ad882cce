// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "vision/sources/source.h"
#include "vision/sources/source_reader.h"

namespace mpm::vision {

/// `image` as CV_8UC3 BGR, whatever depth and channels it has.
cv::Mat toBgr8(const cv::Mat& image);

/// STEM_000012.
std::string frameName(const std::string& stem, int index);

/// Whether the name or the first bytes of a file are those of an image.
bool isImageFile(const std::string& path);

/// Whether options.stop is set.
bool stopped(const SourceOptions& options);

/// One image per file, in the order given. A file that cannot be decoded is an error of next(); with several files,
/// options.on_unreadable is called instead.
std::unique_ptr<FrameSource> openImages(std::vector<std::string> paths, const SourceOptions& options);

/// An image or a video. Throws mpm::Error that says why when the file cannot be read as one.
std::unique_ptr<FrameSource> openFile(const SourceSpec& source, const SourceOptions& options);

/// When the first picture of a Matroska or WebM file comes by the times of the file, s; 0: it is another file. A
/// recorder that cuts its stream into files goes on with the times.
double matroskaStart(const std::string& path);

/// A camera or stream. Each call may hang. `read` throws mpm::Error for a frame that is damaged.
struct Capture {
  std::function<bool()> open;
  std::function<bool(cv::Mat& image)> read;
};

struct LiveDescription {
  std::string shown;         ///< its name in errors and frames, without credentials
  std::string stem;          ///< of frame names
  bool latest_only = true;   ///< drop frames that arrive while the caller is busy
  bool end_is_error = true;  ///< true for cameras; a stream may end
  /// The likely cause when it does not open, or how to find it. Null: unknown.
  std::function<std::string()> why_not_open{};
  /// Throws mpm::Error for a frame of the wrong format. Null: every format is accepted.
  std::function<void(const cv::Mat& frame)> check{};
};

/// Opens `capture`. Throws mpm::Error when it does not open. Opening and reading may hang: see openGuarded(). Damaged
/// frames are left out and reported to options.on_unreadable: the first one, then their number every ten minutes.
std::unique_ptr<FrameSource> openLive(Capture capture, LiveDescription description, const SourceOptions& options = {});

/// Opens a source behind a SourceReader. Throws mpm::Error when it does not open within options.timeout_s.
std::unique_ptr<FrameSource> openGuarded(const std::string& shown, SourceReader::Open open,
                                         const SourceOptions& options);

/// Why a camera ("/dev/video0") does not open, as far as its device tells.
std::string whyNoCamera(const std::string& device);

// Their frames and their opening may hang, as those of openLive().
std::unique_ptr<FrameSource> openCamera(const SourceSpec& source, const SourceOptions& options);
std::unique_ptr<FrameSource> openUrl(const SourceSpec& source, const SourceOptions& options);
/// Throws mpm::Error for a pipeline without an appsink, or an OpenCV without GStreamer.
void checkPipeline(const std::string& pipeline);
/// Opens a pipeline that checkPipeline() accepts.
std::unique_ptr<FrameSource> openPipeline(const SourceSpec& source, const SourceOptions& options);

}  // namespace mpm::vision
