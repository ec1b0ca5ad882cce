// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <opencv2/core.hpp>
#include <optional>
#include <string>

namespace mpm::monitor {

/// How far a camera's view has moved, in the pixels of its pictures.
struct ViewShift {
  double right = 0, down = 0;  ///< of what the pictures show; the camera turned the other way
};

/// Notices that a fixed camera was bumped. It compares the edges of the last pictures with those of about a day before,
/// block by block. Directions of edges are compared, not their strength, and pictures are averaged: light, weather,
/// night and traffic do not count. It needs five minutes, and finds shifts up to a quarter of the width; a mere turn
/// about the line of sight or a zoom is not found. Not thread-safe.
class ViewWatch {
 public:
  /// `steady` in ms. Pictures that follow the last one within half a minute are not looked at. Returns the shift once a
  /// view has moved for good; the moved view is then the one to compare with.
  std::optional<ViewShift> add(const cv::Mat& image, std::int64_t steady);

 private:
  std::optional<ViewShift> shiftOf(const cv::Mat& recent) const;
  void restart();

  cv::Mat reference_, recent_;  // CV_32FC2: directions of edges, averaged
  std::int64_t seen_ = 0;       // pictures in the reference
  cv::Size size_;               // of the pictures
  std::optional<std::int64_t> last_, moved_since_;
  int moved_checks_ = 0;
};

}  // namespace mpm::monitor
