// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/action_registry.h"
#include "gui/models/legend_model.h"
#include "gui/models/on_show.h"
#include "gui/models/viewport.h"
#include "gui/models/worker.h"
#include "gui/views/image_pane.h"
#include "gui/views/legend_panel.h"

namespace mpm::gui {

/// Shows the picture of what is on show and its legend, and makes the actions under View that change how.
class PictureViews : public QObject {
  Q_OBJECT
 public:
  /// The pane and the panel belong to who puts them into a window. `settings`: where chosen colours are kept.
  PictureViews(const OnShow* on_show, ActionRegistry* actions, SettingsWriter* settings, QObject* parent);

  LegendModel* legend() const { return legend_; }
  PatchSelection* selection() const { return selection_; }
  ImagePane* pane() const { return pane_; }
  LegendPanel* panel() const { return panel_; }
  /// The classes and how they are listed are those of this model.
  void setClasses(const ModelInfo& model);
  /// A slider for the opacity of the overlay.
  QSlider* opacitySlider(QWidget* parent) const;

 private:
  void addModes();
  void showAreas();

  const OnShow* const on_show_;
  ActionRegistry* const actions_;
  LegendModel* const legend_;
  PatchSelection* const selection_;
  ImagePane* const pane_;
  LegendPanel* const panel_;
};

}  // namespace mpm::gui
