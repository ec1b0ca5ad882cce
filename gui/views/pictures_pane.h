// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/views/image_pane.h"
#include "gui/views/merge_view.h"

namespace mpm::gui {

/// The image with its classes and the merge map, side by side. Both show the same part of the same frame.
class PicturesPane : public QSplitter {
  Q_OBJECT
 public:
  /// `previous` and `next` step through the insertions: each gets a button, and is enabled while there is a step.
  PicturesPane(ImagePane* image, PatchSelection* selection, QAction* previous, QAction* next);

  MergeView* map() const { return map_; }

  /// Null: no frame.
  void setFrame(const LiveFramePtr& frame);
  /// The merge map has the steps 0 to `last`. Shows the last, which is what the rest of the network works on.
  void setSteps(int last);
  void showStep(int step) { selection_->setStep(std::clamp(step, 0, std::max(last_step_, 0))); }
  void setColoring(MergeColoring coloring);
  void showNextColoring();
  void showMap(bool shown) { map_side_->setVisible(shown); }
  void showWholePicture();
  /// Both pictures have the same size again.
  void restoreSizes() { setSizes({600, 600}); }
  /// How both are shown, under the keys of the settings; without what actions say.
  QVariantMap state() const;
  /// Takes over what state() gave; what is missing or makes no sense becomes the default.
  void restore(const QSettings& stored);

 protected:
  void changeEvent(QEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  QWidget* makeMapSide();
  void alignLines();
  void refreshStep();

  ImagePane* const image_;
  PatchSelection* const selection_;
  QAction* const previous_;
  QAction* const next_;
  MergeView* const map_;
  QLabel* const step_label_;
  QComboBox* const coloring_;
  QWidget* const map_bar_;
  QWidget* const map_side_;
  int last_step_ = 0;
};

}  // namespace mpm::gui
