// SPDX-License-Identifier: Apache-2.0
#include "cli/video_file.h"

#include <cstdio>
#include <filesystem>

#include "base/size_text.h"
#include "mpm/error.hpp"
#include "program/terminal/program.h"
#include "vision/sources/source.h"

namespace mpm::cli {

using namespace program;

VideoFile::VideoFile(std::string path, double frames_per_second)
    : path_(std::move(path)),
      frames_per_second_(frames_per_second),
      whole_(path_),
      part_(whole_.place() + std::filesystem::path(path_).extension().string()) {
  const std::string ending = part_.substr(part_.rfind('.') + 1);
  for (const char* known : {"mp4", "mkv", "mov", "avi"})
    if (ending == known && part_ != whole_.place()) return;
  throw UsageError("the name of the video '" + path_ + "' must end in .mp4, .mkv, .mov or .avi");
}

VideoFile::~VideoFile() {
  writer_.release();
  if (part_ != whole_.place()) std::remove(part_.c_str());
}

void VideoFile::add(const cv::Mat& picture, const std::string& name) {
  if (frames_ == 0) {
    size_ = picture.size();
    // JPEG, which every OpenCV has, in .avi; else H.264 or MPEG-4.
    for (const std::string code : {"MJPG", "avc1", "mp4v"})
      for (const int backend : {cv::CAP_FFMPEG, cv::CAP_OPENCV_MJPEG})
        if (!writer_.isOpened() && part_.ends_with(".avi") == (code == "MJPG") &&
            writer_.open(part_, backend, cv::VideoWriter::fourcc(code[0], code[1], code[2], code[3]),
                         frames_per_second_, size_))
          backend_ = backend;
    if (!writer_.isOpened())
      throw Error("cannot make the video '" + path_ + "': this OpenCV has no codec for " +
                  sizeText({size_.height, size_.width}) + " in this kind of file; .avi needs none");
  }
  if (picture.size() != size_)
    throw Error("frame '" + name + "' is " + sizeText({picture.rows, picture.cols}) + ", and the video '" + path_ +
                "' has frames of " + sizeText({size_.height, size_.width}) + ": make a video of each size");
  writer_.write(picture);
  ++frames_;
}

void VideoFile::finish() {
  if (frames_ == 0) return;
  writer_.release();
  // OpenCV reports no failed write.
  cv::VideoCapture written(part_, backend_);
  cv::Mat last;
  written.set(cv::CAP_PROP_POS_FRAMES, frames_ - 1);
  if (!written.read(last)) throw Error("cannot write the video '" + path_ + "': the disk may be full");
  written.release();
  std::filesystem::rename(part_, whole_.place());
  whole_.finish();
}

double frameRateOf(const std::vector<std::string>& sources) {
  for (const std::string& source : sources) {
    const vision::SourceSpec spec = vision::parseSourceSpec(source);
    if (spec.kind != vision::SourceKind::kVideo) continue;
    const double rate = cv::VideoCapture(vision::sourceFiles(spec).front()).get(cv::CAP_PROP_FPS);
    if (rate > 0 && rate < 1e4) return rate;
  }
  return 25;
}

}  // namespace mpm::cli
