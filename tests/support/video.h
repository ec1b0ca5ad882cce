// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/videoio.hpp>
#include <string>

namespace mpm::test {

/// Writes a video of `count` frames: frame(0), frame(1) and so on, each of this size. False: this OpenCV writes no such
/// video.
template <typename Frame>
bool writeVideo(const std::string& path, const std::string& codec, double fps, cv::Size size, int count, Frame frame) {
  const int fourcc = cv::VideoWriter::fourcc(codec[0], codec[1], codec[2], codec[3]);
  cv::VideoWriter writer(path, fourcc, fps, size);
  if (!writer.isOpened()) return false;
  for (int i = 0; i < count; ++i) writer.write(frame(i));
  return true;
}

}  // namespace mpm::test
