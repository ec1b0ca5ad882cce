// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <optional>
#include <utility>

#include "monitor/statistics/view_motion.h"
#include "monitor/store/store.h"

namespace mpm::monitor {

enum class ViewChange {
  kNone,
  kSmall,  ///< isSmall()
  kLarge,  ///< more: the view that the camera has now becomes the reference
};

/// Follows the view of a fixed camera. The reference is an average of pictures: ten to begin with, then one an hour, of
/// the last two days. Every picture that it looks at is registered to the reference. A view that moved by 1 % of the
/// width or more has changed for good once five pictures in a row agree, pictures that are not sure left out. A picture
/// that is not sure is learned as if it had not moved, so that a new view is known after some days. Not thread-safe.
class ViewWatch {
 public:
  /// Goes on with what an earlier watch of the camera learned. Ignored once add() was called.
  void start(ViewReference reference);

  /// `time`: of the picture. Pictures within half a minute of the last one are not looked at, unless `every`. Takes
  /// about 8 ms where it looks, 40 ms where it is not sure.
  ViewChange add(const cv::Mat& image, UnixMs time, bool every);

  /// Motion of the last picture that was looked at; nullopt: not sure, or the reference is not learned yet.
  const std::optional<ViewMotion>& motion() const { return motion_; }
  /// motion(), or where the view was when it last changed for good.
  ViewMotion place() const { return motion_.value_or(reference_.motion); }
  /// The place() of a picture that is not one of the series, which is not learned.
  ViewMotion placeOf(const cv::Mat& image) const;
  /// Since the reference, of the view that changed last.
  const ViewMotion& moved() const { return moved_; }
  /// The reference if it has changed since the last call.
  std::optional<ViewReference> takeLearned();

 private:
  void learn(const cv::Mat& edges, UnixMs time);
  std::optional<ViewMotion> motionOf(const cv::Mat& edges, const ViewMotion& guess) const;

  ViewReference reference_;
  std::optional<ViewMotion> motion_;
  std::optional<UnixMs> last_;  // time of the last picture that was looked at
  ViewMotion moved_;            // of the last picture that was not where the view was before
  int in_a_row_ = 0;
  bool learned_ = false;
};

}  // namespace mpm::monitor
