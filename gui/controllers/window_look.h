// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/panel_docks.h"
#include "gui/models/worker.h"
#include "gui/views/chart_panel.h"
#include "gui/views/pictures_pane.h"

namespace mpm::gui {

/// How the window looks, and that it looks the same when it is opened again: where it stands, its panels, its colours,
/// the size of its text, and what pictures and chart show.
class WindowLook : public QObject {
  Q_OBJECT
 public:
  WindowLook(QMainWindow* window, ActionRegistry* actions, PanelDocks* docks, PicturesPane* pictures, ChartPanel* chart,
             SettingsWriter* settings);

  /// As it was stored; what is missing or makes no sense is as at first. From then on changes are stored soon.
  void restore(const QSettings& stored);
  /// Stores what has changed.
  void remember();
  /// The layout at first.
  void reset();
  void setDark(bool dark);
  /// Percent of the desktop's font.
  void setFont(int percent);
  int font() const { return font_; }
  /// Hides the panels while another page takes the whole window; false: they come back.
  void setPanelsAside(bool aside);
  /// The window has another size.
  void fit();

 private:
  QMainWindow* const window_;
  ActionRegistry* const actions_;
  PanelDocks* const docks_;
  PicturesPane* const pictures_;
  ChartPanel* const chart_;
  SettingsWriter* const settings_;
  int font_ = 100;
  QByteArray layout_;       // of the panels that are aside; empty: they are not
  QVariantMap remembered_;  // as it was stored last
  QTimer timer_;
};

}  // namespace mpm::gui
