// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/views/picture_view.h"

namespace mpm::gui {

/// The merge map: which patches became one token.
class MergeView : public PictureView {
  Q_OBJECT
 public:
  using PictureView::PictureView;

  void setColoring(MergeColoring coloring) { setDrawn(coloring_, coloring); }
  MergeColoring coloring() const { return coloring_; }
  /// The step of the selection, or the last one of this frame.
  int step() const;

 protected:
  void paintPicture(QPainter& painter, const Viewport& viewport) override;

 private:
  void paintKey(QPainter& painter);
  void paintMeaning(QPainter& painter, const QRectF& picture);

  MergeColoring coloring_ = MergeColoring::kMean;
  std::vector<QRgb> fill_;
  std::vector<GridLine> borders_;
  int shown_step_ = -1;
};

}  // namespace mpm::gui
