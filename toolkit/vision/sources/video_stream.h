// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <opencv2/core.hpp>
#include <opencv2/videoio.hpp>

namespace mpm::vision {

/// A video or stream that OpenCV opens, read alike by OpenCV 4.6 to 5.0: frames are turned as the display matrix of the
/// file says, as ffmpeg shows them, and those of MJPEG are checked by decodePicture(). OpenCV's FFmpeg backend conceals
/// what is damaged in any codec; only of MJPEG it gives the data. Not thread-safe. Each call may hang.
class VideoStream {
 public:
  using Open = std::function<bool(cv::VideoCapture& capture)>;

  /// What positionMs() is needed for. OpenCV before 4.10 gives either the data or the times of MJPEG, so that it cannot
  /// check kByFile, and kByCount only where no frame of the file is missing.
  enum class Times {
    kNone,     ///< it is not
    kByCount,  ///< frames have one step, as in AVI, which may have places without a frame
    kByFile,   ///< each frame has a time of its own
  };

  /// `open` opens a closed capture; it may be called several times before the first frame is read.
  explicit VideoStream(Open open, Times times = Times::kNone);

  bool open();
  /// The next frame: CV_8UC3 BGR, or what a GStreamer pipeline gives. False at the end. Throws mpm::Error, which says
  /// why without a name, for a frame that is damaged; the call after it reads on.
  bool read(cv::Mat& image);

  /// When the last frame is shown, ms since the start; 0: the format does not say.
  double positionMs() const;
  /// Frames a second, less than one for a time-lapse; 1: the format does not say.
  double rate() const;
  double get(int property) const { return capture_.get(property); }

 private:
  bool isMjpeg() const;
  bool hasAllFrames() const;
  bool isInterlaced(const cv::Mat& field) const;

  Open open_;
  Times times_;
  bool conceal_ = false;
  bool encoded_ = false;  // frames come as JPEG data
  bool begun_ = false;
  int clockwise_ = 0;  // degrees by which frames are turned
  cv::VideoCapture capture_;
};

}  // namespace mpm::vision
