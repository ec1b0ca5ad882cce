// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QWidget>

#include "gui/models/live_frame.h"

class QLabel;

namespace mpm::gui {

/// The colours of a depth map from its smallest to its largest value, with both and the unit.
class DepthScale : public QWidget {
  Q_OBJECT
 public:
  explicit DepthScale(QWidget* parent = nullptr);

  /// Null or a frame without depth: no values.
  void setFrame(const LiveFrame* frame);

 private:
  QLabel *low_, *high_, *unit_;
};

}  // namespace mpm::gui
