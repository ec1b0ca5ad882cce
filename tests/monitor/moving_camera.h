// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/imgproc.hpp>

#include "monitor/statistics/view_detector.h"
#include "vision/sources/source.h"

namespace mpm::monitor::test {

/// A view of the street that can be moved: part of a larger rendering, so that its borders show what is there.
class MovingCamera {
 public:
  /// `options` of the demo, without a size; `size` of the view.
  explicit MovingCamera(const std::string& options, cv::Size size = {640, 448})
      : size_(size),
        source_(vision::openSource("demo:street?size=" + std::to_string(size.height * 10 / 7) + "x" +
                                   std::to_string(size.width * 10 / 7) + "&" + options)) {}

  vision::Frame next() {
    vision::Frame frame = *source_->next();
    all_ = frame.image;
    frame.image = view(motion);
    return frame;
  }

  /// The last picture once more, moved otherwise.
  cv::Mat view(const ViewMotion& moved) const {
    const double angle = moved.turn * CV_PI / 180, from_x = (all_.cols - 1) / 2., from_y = (all_.rows - 1) / 2.;
    const double cosine = moved.zoom * std::cos(angle), sine = moved.zoom * std::sin(angle);
    const double to_x = (size_.width - 1) / 2. + moved.right, to_y = (size_.height - 1) / 2. + moved.down;
    const cv::Matx23d matrix(cosine, -sine, to_x - cosine * from_x + sine * from_y,  //
                             sine, cosine, to_y - sine * from_x - cosine * from_y);
    cv::Mat view;
    cv::warpAffine(all_, view, matrix, size_, cv::INTER_LINEAR);
    return view;
  }

  ViewMotion motion;  ///< of next()

 private:
  cv::Size size_;
  std::unique_ptr<vision::FrameSource> source_;
  cv::Mat all_;
};

}  // namespace mpm::monitor::test
