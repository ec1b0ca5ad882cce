// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <optional>
#include <string>

#include "monitor/store/sample.h"

namespace mpm::monitor {

/// When a picture is flagged. The first of these that holds is its flag: a dark picture is not called blurred, too.
struct QualityOptions {
  double dark = 25;     ///< grey level that 1 % of the pixels must exceed; a lamp in a night picture is enough
  double white = 50;    ///< percent of the pixels that may be saturated
  double contrast = 3;  ///< least PictureQuality::contrast
  double sharp = 0;     ///< least PictureQuality::sharpness. A smooth scene, as a lake, has little: 0 flags none
  int pictures = 5;     ///< in a row that must be alike before an event says that they have become bad, or good again
  /// Throws mpm::Error for a value out of range.
  void validate() const;
  friend bool operator==(const QualityOptions&, const QualityOptions&) = default;
};

/// Keys with values, such as "dark=20:pictures=10"; "auto": the defaults. Throws mpm::Error, which names the key or the
/// value, for any other text.
QualityOptions parseQuality(const std::string& spec);

/// Measures a CV_8UC3 picture, made 320 px wide if it is wider; nullopt where it is then below 64 px in width or
/// height.
std::optional<PictureQuality> measureQuality(const cv::Mat& image, const QualityOptions& options);

/// Notices that the pictures of a camera have become bad, or good again. Not thread-safe.
class QualityDetector {
 public:
  explicit QualityDetector(int pictures) : pictures_(pictures) {}
  /// Takes each picture, at `time`. By night nothing but darkness is to be seen without a lamp, so that is no event
  /// then.
  std::optional<Event> add(const PictureQuality& quality, std::optional<bool> night, UnixMs time);

 private:
  int pictures_;
  int flags_ = 0, next_ = 0, in_a_row_ = 0;
};

}  // namespace mpm::monitor
