// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>
#include <opencv2/core.hpp>

#include "mpm/options.hpp"

namespace mpm::gui {

/// kComputed: the image, where the patches that reuse kept are dark.
enum class ViewMode { kImage, kMask, kOverlay, kCurtain, kComputed };

/// How the label map is laid over the image. Changing it costs a repaint and no inference.
struct ClassPaint {
  ViewMode mode = ViewMode::kOverlay;
  double opacity = 0.55;  ///< 0..1
  double curtain = 0.5;   ///< 0..1 of the picture's width: the image left of it, the overlay right
  std::array<QRgb, 256> color{};
  std::array<bool, 256> visible{};  ///< hidden classes leave the image as it is (mask: `hidden`)
  QRgb hidden = qRgb(60, 60, 60);
  bool faded = false;  ///< an old frame: grey
  friend bool operator==(const ClassPaint&, const ClassPaint&) = default;
};

/// Paints `image` (BGR) and `labels` (8 bit, any size over the same area, may be empty) so that the picture covers
/// `picture_rect` of `target` (Format_RGB32); the rest of `target` stays as it is. Bilinear in the image, nearest in
/// the labels. `ids` (CV_16U, of the size of `labels`; may be empty): segments, 0 for none; lines of one pixel stand
/// between them. One thread, no OpenCV call: its thread pool belongs to the inference, and a UI thread that joins it
/// could be handed a slice of the network. 1280x720 takes about 5 ms.
void paintClasses(const cv::Mat& image, const cv::Mat& labels, const ClassPaint& paint, const QRectF& picture_rect,
                  QImage& target, const cv::Mat& ids = {});

/// kComputed: the patches of the grid whose row was computed in an earlier frame are dark, hidden ones black; `row_age`
/// as LiveFrame's.
void paintComputed(const cv::Mat& image, const std::vector<int>& row_age, Size2 grid, bool faded,
                   const QRectF& picture_rect, QImage& target);

}  // namespace mpm::gui
