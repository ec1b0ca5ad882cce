// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "charts/chart.h"
#include "gui/models/legend_model.h"
#include "gui/views/image_view.h"
#include "monitor/store/snapshot.h"

namespace mpm::gui {

/// The image with its classes, and below it of which frame it is.
class ImagePane : public QWidget {
  Q_OBJECT
 public:
  ImagePane(PatchSelection* selection, const LegendModel* legend);

  ImageView* image() const { return image_; }
  const ClassPaint& paint() const { return paint_; }

  /// By which the time of a frame is shown.
  void setClock(const charts::OptionalClock& clock) { clock_ = clock; }
  /// Null: no frame.
  void setFrame(const LiveFramePtr& frame);
  /// The frame is an old one.
  void setFaded(bool faded);
  /// The line below the picture is as high as this, px.
  void setLineHeight(int height) { frame_label_->setFixedHeight(height); }

  void setMode(ViewMode mode);
  /// As overlays are drawn into files.
  monitor::OverlayStyle overlayStyle() const;
  void setOpacity(double opacity);
  void setCurtain(double share);
  /// How the picture is shown, under the keys of the settings; without what actions say.
  QVariantMap state() const;
  /// Takes over what state() gave; what is missing or makes no sense becomes the default.
  void restore(const QSettings& stored);

  /// The legend changed.
  void refreshPaint();

 signals:
  void opacityChanged(double opacity);
  void modeChanged(mpm::gui::ViewMode mode);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  const LegendModel* const legend_;
  ImageView* const image_;
  QLabel* const frame_label_;
  ClassPaint paint_;
  charts::OptionalClock clock_{};
};

}  // namespace mpm::gui
