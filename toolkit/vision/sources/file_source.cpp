// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>
#include <string_view>
#include <utility>

#include "base/number_text.h"
#include "mpm/error.hpp"
#include "vision/pictures/pictures.h"
#include "vision/sources/opening_turns.h"
#include "vision/sources/sources.h"
#include "vision/sources/video_stream.h"

namespace mpm::vision {
namespace {

namespace fs = std::filesystem;

class ImageSource final : public FrameSource {
 public:
  ImageSource(std::vector<std::string> paths, const SourceOptions& options)
      : paths_(std::move(paths)), options_(options) {}

  std::optional<Frame> next() override {
    const bool skip_unreadable = options_.on_unreadable && paths_.size() > 1;
    while (next_ < paths_.size() && !stopped(options_)) {
      const int index = static_cast<int>(next_++);
      const std::string& path = paths_[index];
      if (!chosen(path)) continue;
      try {
        return Frame{readPicture(path), fs::path(path).stem().string(), path, index};
      } catch (const Error& error) {
        if (!skip_unreadable) throw;
        options_.on_unreadable(error.what(), {});
      }
    }
    return std::nullopt;
  }

  std::optional<int> size() const override {
    return static_cast<int>(std::ranges::count_if(paths_, [this](const std::string& path) { return chosen(path); }));
  }

 private:
  bool chosen(const std::string& path) const { return !options_.chosen || options_.chosen(path); }

  std::vector<std::string> paths_;
  SourceOptions options_;
  std::size_t next_ = 0;
};

class VideoSource final : public FrameSource {
 public:
  VideoSource(const std::string& path, const SourceOptions& options)
      : path_(path),
        options_(options),
        capture_([path, options](cv::VideoCapture& capture) { return openVideo(path, options, capture); },
                 isAvi(path) ? VideoStream::Times::kByCount : VideoStream::Times::kByFile) {
    if (!capture_.open()) throw Error("'" + path + "' is neither an image nor a video that OpenCV can read");
    start_s_ = matroskaStart(path);
  }

  std::optional<Frame> next() override {
    if (stopped(options_) || ended_) return std::nullopt;
    cv::Mat image;
    if (!readWhole(image)) {
      if (stopped(options_)) return std::nullopt;
      if (index_ == 0) throw Error("cannot read video '" + path_ + "': no frame can be decoded");
      ended_ = true;
      reportIfCut();
      return std::nullopt;
    }
    const int index = index_++;
    Frame frame{toBgr8(image), frameName(fs::path(path_).stem().string(), index), path_, index};
    // A format without times says 0 for each frame. For the last frames of H.264 OpenCV says 0, too: they go on evenly.
    double ms = capture_.positionMs();
    if (ms <= 0 && last_ms_ > 0) ms = last_ms_ + step_ms_;
    step_ms_ = ms - std::exchange(last_ms_, ms);
    if (ms > 0 || index == 0) frame.media_time = ms / 1000;
    return frame;
  }

  std::optional<int> size() const override {
    // Where the file says no number, it is a guess by its duration, which Matroska counts from 0 and not from its
    // start.
    const double frames =
        capture_.get(cv::CAP_PROP_FRAME_COUNT) - std::round(start_s_ * capture_.get(cv::CAP_PROP_FPS));
    return frames >= 1 && frames < 1e9 ? std::optional<int>(static_cast<int>(frames)) : std::nullopt;
  }

 private:
  static bool isAvi(const std::string& path) {
    std::array<char, 4> head{};
    std::ifstream(path, std::ios::binary).read(head.data(), head.size());
    return std::string_view(head.data(), head.size()) == "RIFF";
  }

  static bool openVideo(const std::string& path, const SourceOptions& options, cv::VideoCapture& capture) {
    // FFmpeg takes "front:street.mp4" for a URL, but not with a folder before it.
    const std::string whole_path = fs::absolute(path).string();
    // By name: CAP_ANY would also take "still_01.txt" for the first image of a sequence.
    if (OpeningTurns::ofFfmpeg().run(options, [&] { return capture.open(whole_path, cv::CAP_FFMPEG); })) return true;
    for (int backend : {cv::CAP_GSTREAMER, cv::CAP_OPENCV_MJPEG})
      if (capture.open(whole_path, backend)) return true;
    return false;
  }

  // The next frame that is not damaged. False at the end.
  bool readWhole(cv::Mat& image) {
    while (!stopped(options_)) {
      try {
        return capture_.read(image);
      } catch (const Error& error) {
        const std::string why = "'" + path_ + "', frame " + std::to_string(index_++) + ": " + error.what();
        if (!options_.on_unreadable) throw Error(why);
        options_.on_unreadable(why, {});
      }
    }
    return false;
  }

  // The number of frames may be a guess from the length of the video, so that the end must be early by the clock, too.
  void reportIfCut() const {
    constexpr double kWhole = 0.9;
    const int frames = size().value_or(0);
    const double ms = 1000 * frames / capture_.rate();
    if (index_ > kWhole * frames || last_ms_ + step_ms_ > kWhole * ms) return;
    const std::string why =
        "'" + path_ + "' ends after " + std::to_string(index_) + " of " + counted(frames, "frame") + ": it is cut off";
    if (!options_.on_unreadable) throw Error(why);
    options_.on_unreadable(why, {});
  }

  std::string path_;
  SourceOptions options_;
  VideoStream capture_;
  double start_s_ = 0;
  int index_ = 0;
  bool ended_ = false;
  double last_ms_ = 0, step_ms_ = 0;  // time of the last frame, and from the one before to it
};

}  // namespace

cv::Mat toBgr8(const cv::Mat& image) {
  cv::Mat result = image;
  if (result.depth() == CV_16U) result.convertTo(result, CV_8U, 1.0 / 257);
  if (result.depth() != CV_8U) throw Error("an image must have 8 or 16 bits per channel");
  if (result.channels() == 1) cv::cvtColor(result, result, cv::COLOR_GRAY2BGR);
  if (result.channels() == 4) cv::cvtColor(result, result, cv::COLOR_BGRA2BGR);
  if (result.channels() != 3)
    throw Error("an image must have 1, 3 or 4 channels, not " + std::to_string(result.channels()));
  return result;
}

bool stopped(const SourceOptions& options) { return options.stop && options.stop->load(); }

std::unique_ptr<FrameSource> openImages(std::vector<std::string> paths, const SourceOptions& options) {
  return std::make_unique<ImageSource>(std::move(paths), options);
}

std::string frameName(const std::string& stem, int index) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "_%06d", index);
  return stem + digits;
}

std::unique_ptr<FrameSource> openFile(const SourceSpec& source, const SourceOptions& options) {
  const std::string& path = source.target;
  std::error_code error;
  if (fs::file_size(path, error) == 0 && !error) throw Error("'" + path + "' is empty");
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0)
    throw Error("cannot read '" + path + "': " + std::strerror(errno));
  if (fs::path(path).extension() == ".onnx") throw Error("'" + path + "' is a model, not a picture: use --model");
  if (source.kind == SourceKind::kImage) return openImages({path}, options);
  return std::make_unique<VideoSource>(path, options);
}

}  // namespace mpm::vision
