// SPDX-License-Identifier: Apache-2.0
#include "vision/sources/video_stream.h"

#include <algorithm>
#include <array>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <utility>

#include "mpm/error.hpp"
#include "vision/pictures/pictures.h"

namespace mpm::vision {
namespace {

// OpenCV 4.6 has the sense of rotation of a display matrix the wrong way round; 4.7 and later are right.
constexpr bool kTurnsBackwards = CV_VERSION_MAJOR == 4 && CV_VERSION_MINOR < 7;
// OpenCV gives the times of frames that it does not decode.
constexpr bool kTimesOfData = CV_VERSION_MAJOR > 4 || CV_VERSION_MINOR >= 10;

cv::Mat turned(const cv::Mat& image, int clockwise) {
  cv::Mat result = image;
  if (clockwise == 90) cv::rotate(image, result, cv::ROTATE_90_CLOCKWISE);
  if (clockwise == 180) cv::rotate(image, result, cv::ROTATE_180);
  if (clockwise == 270) cv::rotate(image, result, cv::ROTATE_90_COUNTERCLOCKWISE);
  return result;
}

// One row of bytes, of raw data or of "image/jpeg ! appsink".
bool isJpegData(const cv::Mat& image) {
  return image.type() == CV_8UC1 && image.rows == 1 && image.cols > 3 && image.at<unsigned char>(0) == 0xff &&
         image.at<unsigned char>(1) == 0xd8 && image.at<unsigned char>(2) == 0xff;
}

cv::Mat decodeFrame(const cv::Mat& data) {
  std::string bytes(data.ptr<char>(), static_cast<std::size_t>(data.cols));
  bytes += "\xff\xd9";  // an end mark, which many cameras leave out
  return decodePicture(bytes, cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION);
}

}  // namespace

VideoStream::VideoStream(Open open, Times times) : open_(std::move(open)), times_(times) {}

bool VideoStream::open() {
  if (!open_(capture_)) return false;
  if (capture_.getBackendName() != "FFMPEG") return true;  // others know nothing of the following
  capture_.set(cv::CAP_PROP_ORIENTATION_AUTO, 0);
  clockwise_ = static_cast<int>(capture_.get(cv::CAP_PROP_ORIENTATION_META));
  if (kTurnsBackwards) clockwise_ = (360 - clockwise_) % 360;
  const bool timed = kTimesOfData || times_ == Times::kNone || (times_ == Times::kByCount && hasAllFrames());
  encoded_ = !conceal_ && isMjpeg() && timed && capture_.set(cv::CAP_PROP_FORMAT, -1);
  return true;
}

bool VideoStream::isMjpeg() const {
  const auto code = static_cast<int>(capture_.get(cv::CAP_PROP_FOURCC));
  return std::ranges::any_of(std::array{"MJPG", "mjpg", "mjpe", "jpeg"}, [code](const char* known) {
    return code == cv::VideoWriter::fourcc(known[0], known[1], known[2], known[3]);
  });
}

// Reads the file once, which takes a small part of the time of a model.
bool VideoStream::hasAllFrames() const {
  cv::VideoCapture again;
  if (!isMjpeg() || !open_(again) || !again.set(cv::CAP_PROP_FORMAT, -1)) return false;
  int frames = 0;
  while (again.grab()) ++frames;
  return frames == static_cast<int>(again.get(cv::CAP_PROP_FRAME_COUNT));
}

// A frame of two fields has two JPEGs, each with every other row, which FFmpeg weaves together.
bool VideoStream::isInterlaced(const cv::Mat& field) const {
  return field.rows * 2 == static_cast<int>(capture_.get(cv::CAP_PROP_FRAME_HEIGHT));
}

bool VideoStream::read(cv::Mat& image) {
  do {
    if (!capture_.grab()) return false;
    image.release();
    (void)capture_.retrieve(image);
  } while (encoded_ && image.empty());  // a frame without data, which repeats the one before
  if (image.empty()) return false;
  if (isJpegData(image)) {
    image = decodeFrame(image);
    if (encoded_ && !std::exchange(begun_, true) && isInterlaced(image)) {
      conceal_ = true;
      capture_.release();
      return open() && read(image);
    }
  } else if (encoded_) {
    throw Error("its data are damaged");
  }
  image = turned(image, clockwise_);
  return true;
}

double VideoStream::positionMs() const {
  if (encoded_ && !kTimesOfData) return 1000 * (capture_.get(cv::CAP_PROP_POS_FRAMES) - 1) / rate();
  return std::max(0.0, capture_.get(cv::CAP_PROP_POS_MSEC));  // hugely negative where there is none
}

double VideoStream::rate() const {
  const double rate = capture_.get(cv::CAP_PROP_FPS);
  return rate > 0 ? rate : 1;
}

}  // namespace mpm::vision
