// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QImage>
#include <QWidget>

#include "gui/models/live_frame.h"

class QCheckBox;
class QLabel;

namespace mpm::gui {

/// The same frame with and without merging: agreement, speed, and where the labels differ.
class ComparePanel : public QWidget {
  Q_OBJECT
 public:
  explicit ComparePanel(QWidget* parent = nullptr);
  void setFrame(const LiveFramePtr& frame);
  /// Switches the comparison off because it is impossible, and shows why.
  void refuse(const QString& why);
  QCheckBox* box() const { return on_; }
  const QImage& picture() const { return picture_; }

 signals:
  void compareToggled(bool on);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void showPicture();
  QCheckBox* on_;
  QLabel *facts_, *difference_;
  QImage picture_;
  QString refused_;
};

}  // namespace mpm::gui
