// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "charts/chart.h"
#include "gui/models/legend_model.h"
#include "gui/views/image_view.h"
#include "gui/views/merge_view.h"
#include "monitor/store/snapshot.h"

namespace mpm::gui {

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
  /// As overlays are drawn into files.
  monitor::OverlayStyle overlayStyle() const;
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
  void modeChanged(mpm::gui::ViewMode mode);

 private:
  QWidget* makeMapSide();
  void refreshStep();

  PatchSelection* const selection_;
  const LegendModel* const legend_;
  QAction* const previous_;
  QAction* const next_;
  ImageView* const image_;
  MergeView* const map_;
  QLabel* const frame_label_;
  QLabel* const step_label_;
  QComboBox* const coloring_;
  QWidget* const map_bar_;
  QWidget* const map_side_;
  ClassPaint paint_;
  charts::Clock clock_{};
  int last_step_ = 0;
};

}  // namespace mpm::gui
