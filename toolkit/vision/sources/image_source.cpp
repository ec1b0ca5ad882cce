// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "mpm/error.hpp"
#include "vision/pictures/read_picture.h"
#include "vision/sources/sources.h"

namespace mpm::vision {
namespace {

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
        const int flags = cv::IMREAD_COLOR | (options_.apply_exif_rotation ? 0 : cv::IMREAD_IGNORE_ORIENTATION);
        return Frame{toBgr8(readPictureFile(path, flags)), std::filesystem::path(path).stem().string(), path, index};
      } catch (const Error& error) {
        if (!skip_unreadable) throw;
        options_.on_unreadable(error.what());
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

void requireReadable(const std::string& path) {
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0)
    throw Error("cannot read '" + path + "': " + std::strerror(errno));
}

bool stopped(const SourceOptions& options) { return options.stop && options.stop->load(); }

std::unique_ptr<FrameSource> openImages(std::vector<std::string> paths, const SourceOptions& options) {
  return std::make_unique<ImageSource>(std::move(paths), options);
}

}  // namespace mpm::vision
