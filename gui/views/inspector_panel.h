// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QWidget>

#include "gui/models/legend_model.h"
#include "gui/models/live_frame.h"
#include "gui/models/patch_selection.h"

class QFormLayout;
class QLabel;

namespace mpm::gui {

/// What is known of the patch under the mouse or the patch cursor.
class InspectorPanel : public QWidget {
  Q_OBJECT
 public:
  InspectorPanel(PatchSelection* selection, const LegendModel* legend, QWidget* parent = nullptr);

  void setFrame(LiveFramePtr frame);
  /// What is shown, as one text: for tests and screen readers.
  QString text() const;

 private:
  void refresh();
  void add(QFormLayout* form, const QString& name, QLabel*& value);

  PatchSelection* selection_;
  const LegendModel* legend_;
  LiveFramePtr frame_;
  QLabel *hint_, *pin_, *class_, *score_, *similarity_, *cluster_, *size_, *merged_, *patch_;
  QWidget* facts_;
};

}  // namespace mpm::gui
