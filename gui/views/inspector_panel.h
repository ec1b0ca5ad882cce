// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/models/legend_model.h"
#include "gui/models/live_frame.h"
#include "gui/models/viewport.h"

namespace mpm::gui {

/// The facts about the patch under the mouse or the patch cursor.
class InspectorPanel : public QWidget {
  Q_OBJECT
 public:
  InspectorPanel(PatchSelection* selection, const LegendModel* legend, QWidget* parent = nullptr);

  void setFrame(LiveFramePtr frame);

 private:
  void refresh();

  PatchSelection* const selection_;
  const LegendModel* const legend_;
  QLabel* const hint_;
  QWidget* const facts_;
  QLabel* const class_;
  QLabel* const score_;
  QLabel* const found_;
  QLabel* const cluster_;
  QLabel* const size_;
  QLabel* const merged_;
  QLabel* const similarity_;
  QLabel* const patch_;
  QLabel* const row_;
  QLabel* const pin_;
  LiveFramePtr frame_;
};

}  // namespace mpm::gui
