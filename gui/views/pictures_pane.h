// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "charts/chart.h"
#include "gui/models/legend_model.h"
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
  PicturesPane(PatchSelection* selection, const LegendModel* legend, QAction* previous, QAction* next);

  ImageView* image() const { return image_; }
  MergeView* map() const { return map_; }
  const ClassPaint& paint() const { return paint_; }

  /// By which the time of a frame is shown.
  void setClock(const charts::Clock& clock) { clock_ = clock; }
  /// Null: no frame.
  void setFrame(const LiveFramePtr& frame);
  /// The frame is an old one.
  void setFaded(bool faded);

  void setMode(ViewMode mode);
  void setOpacity(double opacity);
  void setCurtain(double share);
  /// The merge map has the steps 0 to `last`. Shows the last, which is what the rest of the network works on.
  void setSteps(int last);
  void showStep(int step) { selection_->setStep(std::clamp(step, 0, std::max(last_step_, 0))); }
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
  charts::Clock clock_{};
  int last_step_ = 0;
};

/// A picture of a folder, and when it was taken; 0: not known.
struct FolderPicture {
  QString file;
  UnixMs time = 0;
};

/// Goes through the pictures of a folder: a button back, a slider that says the name and the time of its picture, a
/// button forward. Hidden while there are none.
class FolderBar : public QWidget {
  Q_OBJECT
 public:
  FolderBar(QAction* previous, QAction* next, QWidget* parent = nullptr);

  /// `clock`: by which their times are shown.
  void setPictures(std::vector<FolderPicture> pictures, const charts::Clock& clock = {});
  const std::vector<FolderPicture>& pictures() const { return pictures_; }
  /// Does not emit picked(). `time`: when that picture was taken, where the caller knows it.
  void setCurrent(int index, UnixMs time = 0);
  int current() const { return slider_->value(); }

 signals:
  /// The user moved the slider.
  void picked(int index);

 private:
  void refresh();

  std::vector<FolderPicture> pictures_;
  charts::Clock clock_{};
  QAction *previous_, *next_;
  QSlider* slider_;
  QLabel* label_;
};

}  // namespace mpm::gui
