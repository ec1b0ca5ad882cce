// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <opencv2/videoio.hpp>
#include <utility>

#include "mpm/error.hpp"
#include "vision/sources/sources.h"

namespace mpm::vision {
namespace {

class VideoSource final : public FrameSource {
 public:
  VideoSource(const std::string& path, const SourceOptions& options) : path_(path), options_(options) {
    // FFmpeg takes "front:street.mp4" for a URL, but not with a folder before it.
    const std::string whole_path = std::filesystem::absolute(path).string();
    // By name: CAP_ANY would also take "still_01.txt" for the first image of a sequence.
    for (int backend : {cv::CAP_FFMPEG, cv::CAP_GSTREAMER, cv::CAP_OPENCV_MJPEG})
      if (capture_.open(whole_path, backend)) break;
  }

  bool isOpened() const { return capture_.isOpened(); }

  std::optional<Frame> next() override {
    if (stopped(options_)) return std::nullopt;
    cv::Mat image;
    if (!capture_.read(image) || image.empty()) {
      if (index_ == 0) throw Error("cannot read video '" + path_ + "': no frame can be decoded");
      return std::nullopt;
    }
    const int index = index_++;
    Frame frame{toBgr8(image), frameName(std::filesystem::path(path_).stem().string(), index), path_, index};
    // A format without times says 0 for each frame. For the last frames of H.264 OpenCV says 0, too: they go on evenly.
    double ms = capture_.get(cv::CAP_PROP_POS_MSEC);
    if (ms <= 0 && last_ms_ > 0) ms = last_ms_ + step_ms_;
    step_ms_ = ms - std::exchange(last_ms_, ms);
    if (ms > 0 || index == 0) frame.media_time = ms / 1000;
    return frame;
  }

  std::optional<int> size() const override {
    const double frames = capture_.get(cv::CAP_PROP_FRAME_COUNT);
    return frames >= 1 && frames < 1e9 ? std::optional<int>(static_cast<int>(frames)) : std::nullopt;
  }

 private:
  std::string path_;
  SourceOptions options_;
  cv::VideoCapture capture_;
  int index_ = 0;
  double last_ms_ = 0, step_ms_ = 0;  // time of the last frame, and from the one before to it
};

}  // namespace

std::string frameName(const std::string& stem, int index) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "_%06d", index);
  return stem + digits;
}

std::unique_ptr<FrameSource> openVideo(const std::string& path, const SourceOptions& options) {
  auto source = std::make_unique<VideoSource>(path, options);
  return source->isOpened() ? std::move(source) : nullptr;
}

}  // namespace mpm::vision
