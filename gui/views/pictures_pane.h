// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QSplitter>

#include "gui/models/legend_model.h"
#include "gui/models/live_frame.h"
#include "gui/models/patch_selection.h"
#include "gui/models/view_settings.h"

class QAction;
class QComboBox;
class QLabel;

namespace mpm::gui {

class ImageView;
class MergeView;

/// The image with its classes and the merge map, side by side, and how they are looked at. Both show the same part of
/// the same frame.
class PicturesPane : public QSplitter {
  Q_OBJECT
 public:
  /// `previous` and `next` step through the insertions: they get a button each, and are enabled while there is a step.
  PicturesPane(PatchSelection* selection, const LegendModel* legend, QAction* previous, QAction* next,
               QWidget* parent = nullptr);

  ImageView* image() const { return image_; }
  MergeView* map() const { return map_; }
  const ClassPaint& paint() const { return paint_; }

  void setFrame(const LiveFramePtr& frame);
  /// "640 × 448 px  ·  21 Nov 12:30:00"; empty without a frame.
  QString frameText() const;
  /// "Block 5: 829 → 658".
  QString stepText() const;
  /// No frame and no banner.
  void clear();
  /// As of PictureView, of the image.
  void setBanner(const QString& text);
  void setPlaceholder(const QString& text);
  /// The frame is an old one.
  void setFaded(bool faded);

  void setMode(ViewMode mode);
  void setOpacity(double opacity);
  void setCurtain(double share);
  /// The merge map has the steps 0 to `last`; the last is on show, because it is what the rest of the network works on.
  void setSteps(int last);
  void showStep(int step);
  void setColoring(MergeColoring coloring);
  void showNextColoring();
  void showMap(bool shown);
  void showWholePicture();
  /// Both pictures have the same size again.
  void restoreSizes();
  PicturesChoice choice() const;
  void setChoice(const PicturesChoice& choice);

  /// The legend changed.
  void refreshPaint();
  /// The theme or the font changed.
  void refreshLook();

 signals:
  void modeChanged(mpm::gui::ViewMode mode);
  void opacityChanged(double opacity);
  void mapShown(bool shown);

 private:
  QWidget* makeImageSide();
  QWidget* makeMapSide(QAction* previous, QAction* next);
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
