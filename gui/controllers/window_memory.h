// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/controllers/panel_docks.h"
#include "gui/models/settings_writer.h"
#include "gui/views/chart_panel.h"
#include "gui/views/pictures_pane.h"

namespace mpm::gui {

/// Keeps the look of the window between two starts: where it stands, its panels, what pictures and chart show. Writes
/// what changed every other second, because a power cut does not announce itself.
class WindowMemory {
 public:
  /// Restores what `stored` has.
  WindowMemory(const QSettings& stored, SettingsWriter* settings, QMainWindow* window, PicturesPane* pictures,
               ChartPanel* chart, PanelDocks* docks);
  void write();
  /// While paused what is on screen is not what is to come back.
  void setPaused(bool paused) { paused ? timer_.stop() : timer_.start(); }

 private:
  SettingsWriter* settings_;
  QMainWindow* window_;
  PicturesPane* pictures_;
  ChartPanel* chart_;
  PanelDocks* docks_;
  QVariantMap written_;
  QTimer timer_;
};

}  // namespace mpm::gui
