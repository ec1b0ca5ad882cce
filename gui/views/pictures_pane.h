// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/legend_model.h"
#include "gui/models/merge_colors.h"
#include "gui/views/image_view.h"

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

/// The image with its classes and the merge map, side by side. Both show the same part of the same frame.
class PicturesPane : public QSplitter {
  Q_OBJECT
 public:
  /// `previous` and `next` step through the insertions: each gets a button, and is enabled while there is a step.
  PicturesPane(PatchSelection* selection, const LegendModel* legend, QAction* previous, QAction* next,
               QWidget* parent = nullptr);

  ImageView* image() const { return image_; }
  MergeView* map() const { return map_; }
  const ClassPaint& paint() const { return paint_; }

  /// Null: no frame.
  void setFrame(const LiveFramePtr& frame);
  /// The frame is an old one.
  void setFaded(bool faded);

  void setMode(ViewMode mode);
  void setOpacity(double opacity);
  void setCurtain(double share);
  /// The merge map has the steps 0 to `last`. Shows the last, which is what the rest of the network works on.
  void setSteps(int last);
  void showStep(int step);
  void setColoring(MergeColoring coloring);
  void showNextColoring();
  void showMap(bool shown) { map_side_->setVisible(shown); }
  void showWholePicture();
  /// Both pictures have the same size again.
  void restoreSizes() { setSizes({600, 600}); }
  /// How the pictures are shown, under the keys of the settings; without what actions say.
  QVariantMap state() const;
  /// Takes over what state() gave; what is missing or makes no sense becomes the default.
  void restore(const QSettings& stored);

  /// The legend changed.
  void refreshPaint();
  /// The theme or the font changed.
  void refreshLook();

 signals:
  void opacityChanged(double opacity);

 private:
  QWidget* makeMapSide();
  void refreshStep();

  PatchSelection* selection_;
  const LegendModel* legend_;
  QAction *previous_, *next_;
  ImageView* image_;
  MergeView* map_;
  QWidget *map_side_, *map_bar_;
  QLabel *step_label_, *frame_label_;
  QComboBox* coloring_;
  ClassPaint paint_;
  int last_step_ = 0;
};

}  // namespace mpm::gui
