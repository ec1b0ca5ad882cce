// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "gui/controllers/panel_docks.h"
#include "gui/models/worker.h"

namespace mpm::gui {

/// What a view remembers, under the keys of the settings.
struct RememberedPart {
  std::function<QVariantMap()> state;
  /// Takes over what `state` gave; what is missing or makes no sense becomes the default.
  std::function<void(const QSettings& stored)> restore;
};

/// How the window looks, and that it looks the same when it is opened again: where it stands, its panels, its colours,
/// the size of its text, and what pictures and chart show.
class WindowLook : public QObject {
  Q_OBJECT
 public:
  WindowLook(QMainWindow* window, ActionRegistry* actions, PanelDocks* docks, std::vector<RememberedPart> parts,
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

 signals:
  /// Other colours, or another size of the text.
  void changed();
  /// The layout is as at first.
  void layoutReset();

 private:
  QMainWindow* const window_;
  ActionRegistry* const actions_;
  PanelDocks* const docks_;
  const std::vector<RememberedPart> parts_;
  SettingsWriter* const settings_;
  int font_ = 100;
  QByteArray layout_;       // of the panels that are aside; empty: they are not
  QVariantMap remembered_;  // as it was stored last
  QTimer timer_;
};

}  // namespace mpm::gui
