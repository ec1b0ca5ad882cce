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

  /// `open` opens a closed capture; it may be called once more while the first frame is read. `needs_times`: frames are
  /// shown at times that are no multiple of a step, and positionMs() is needed. Then OpenCV before 4.10 cannot check
  /// MJPEG, because it gives either data or times.
  explicit VideoStream(Open open, bool needs_times = false);

  bool open();
  /// The next frame: CV_8UC3 BGR, or what a GStreamer pipeline gives. False at the end. Throws mpm::Error, which says
  /// why without a name, for a frame that is damaged; the call after it reads on.
  bool read(cv::Mat& image);

  /// When the last frame is shown, ms since the start; 0: the format does not say.
  double positionMs() const;
  double get(int property) const { return capture_.get(property); }

 private:
  bool isMjpeg() const;
  bool isInterlaced(const cv::Mat& field) const;

  Open open_;
  bool needs_times_, conceal_ = false;
  bool encoded_ = false;  // frames come as JPEG data
  bool begun_ = false;
  int clockwise_ = 0;  // degrees by which frames are turned
  cv::VideoCapture capture_;
};

}  // namespace mpm::vision
