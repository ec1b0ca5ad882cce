// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <opencv2/core.hpp>
#include <optional>
#include <string>

#include "monitor/store/records.h"

namespace mpm::monitor {

/// Takes a point of the reference to its place in a picture of `size` px. Pixel centres are whole numbers, as in
/// cv::warpAffine().
cv::Matx23d matrixOf(const ViewMotion& motion, cv::Size size);
/// The inverse of matrixOf(). The matrix must be a shift, a turn and a zoom.
ViewMotion motionOf(const cv::Matx23d& matrix, cv::Size size);

/// Scales a motion to a picture that is `factor` times as large.
ViewMotion scaled(ViewMotion motion, double factor);
/// How far the two motions take a corner of a picture of `size` apart, px: the corner where it is most.
double distance(const ViewMotion& one, const ViewMotion& other, cv::Size size);

/// At most 5 % of the width of the picture, 3 degrees and 5 % of zoom: what is tied to the view can move along.
bool isSmall(const ViewMotion& motion, cv::Size size);

/// "moved 15 px right and 8 px up, turned 1.2 degrees clockwise, became 3 % larger"; what is too small to see is left
/// out. Of what a picture shows, not of the camera.
std::string toText(const ViewMotion& motion);

/// Directions of the edges of a picture, CV_32FC2, 320 px wide. Their strength counts little and which side is the
/// lighter one does not, so light, weather and night change few of them. `image`: CV_8UC3, at least 32 px high and
/// wide. `hidden`: pixels that count nowhere in the result, CV_8U of the size of the image and not 0 there, or empty:
/// there and nearby are no edges.
cv::Mat edgeDirections(const cv::Mat& image, const cv::Mat& hidden = {});

/// Estimates how `edges` moved since `reference`. Both are edgeDirections() of pictures of one size, or averages of
/// them; `size` is that of the pictures. Tries `guess` first, then shifts up to a quarter of the width with turns up to
/// 5 degrees and zooms up to 10 %.
/// nullopt: not sure. A motion is sure when most parts of the picture that can be found again agree with it, and their
/// scatter puts its error well below a pixel of a picture 640 px wide (docs/monitor.md has the measured error).
/// Takes about 4 ms where the guess is right, else 30 ms. Thread-safe.
std::optional<ViewMotion> estimateMotion(const cv::Mat& reference, const cv::Mat& edges, const ViewMotion& guess,
                                         cv::Size size);

enum class ViewChange {
  kNone,
  kSmall,  ///< isSmall()
  kLarge,  ///< more: the view that the camera has now becomes the reference
};

/// The pixels of a picture that must not be seen, where the view has moved by this offset: CV_8U of its size, 255
/// there; empty: none.
using HiddenAt = std::function<cv::Mat(const ViewMotion& offset)>;

/// A reference without what was learned of pictures: only how far the view has moved, so that regions stay in place.
ViewReference withoutEdges(ViewReference reference);

/// Follows the view of a fixed camera. The reference is an average of pictures: ten to begin with, then one an hour, of
/// the last two days. Every picture that it looks at is registered to the reference. A view that moved by 1 % of the
/// width or more has changed for good once five pictures in a row agree, pictures that are not sure left out. A picture
/// that is not sure is learned as if it had not moved, so that a new view is known after some days. What must not be
/// seen is not looked at: the reference is stored. Not thread-safe.
class ViewDetector {
 public:
  /// Goes on with what an earlier watch of the camera learned. Ignored once add() was called.
  void start(ViewReference reference);

  /// `time`: of the picture. Pictures within half a minute of the last one are not looked at, unless `every`. Takes
  /// about 8 ms where it looks, 40 ms where it is not sure.
  ViewChange add(const cv::Mat& image, UnixMs time, bool every, const HiddenAt& hidden = {});
  /// Begins to learn anew, with the view where it is: something else must not be seen from now on.
  void forget();

  /// Motion of the last picture that was looked at; nullopt: not sure, or the reference is not learned yet.
  const std::optional<ViewMotion>& motion() const { return motion_; }
  /// motion(), or where the view was when it last changed for good.
  ViewMotion offset() const { return motion_.value_or(reference_.motion); }
  /// The motion() of a picture that is not one of the series, which is not learned.
  std::optional<ViewMotion> find(const cv::Mat& image, const HiddenAt& hidden = {}) const;
  /// The offset() of such a picture.
  ViewMotion offsetOf(const cv::Mat& image, const HiddenAt& hidden = {}) const;
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
