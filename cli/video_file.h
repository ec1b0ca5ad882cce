// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/videoio.hpp>
#include <string>
#include <vector>

#include "base/atomic_file.h"

namespace mpm::cli {

/// A video that is there completely or not at all. The ending of its name says what kind it is.
class VideoFile {
 public:
  /// Throws UsageError for another ending, mpm::Error when nothing can be written to `path`.
  VideoFile(std::string path, double frames_per_second);
  VideoFile(const VideoFile&) = delete;
  VideoFile& operator=(const VideoFile&) = delete;
  ~VideoFile();  ///< without finish(): leaves the path unchanged

  /// `picture`: CV_8UC3, all of one size; `name`: of the frame, for errors. Throws mpm::Error for another size, and
  /// when OpenCV cannot make a video of this kind.
  void add(const cv::Mat& picture, const std::string& name);
  /// Throws mpm::Error when the file lacks a part, as on a full disk.
  void finish();

 private:
  std::string path_;
  double frames_per_second_;
  AtomicFile whole_;
  std::string part_;  // with the ending, by which FFmpeg knows the kind
  cv::VideoWriter writer_;
  int backend_ = cv::CAP_ANY;
  cv::Size size_;
  int frames_ = 0;
};

/// Frames per second of the first video among the sources; 25 without one.
double frameRateOf(const std::vector<std::string>& sources);

}  // namespace mpm::cli
