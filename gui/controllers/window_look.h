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

/// How a window looks, and that it looks the same when it is opened again: where it stands, its panels, and what
/// pictures and chart show. The colours and the size of the text are those of all windows. Makes the actions under View
/// for that.
class WindowLook : public QObject {
  Q_OBJECT
 public:
  /// `group`: of the settings, where this kind of window is remembered; empty: beside the others.
  WindowLook(QMainWindow* window, ActionRegistry* actions, PanelDocks* docks, std::vector<RememberedPart> parts,
             SettingsWriter* settings, const QString& group = {});

  /// As it was stored; what is missing or makes no sense is as at first. From then on changes are stored soon.
  void restore();
  /// Stores what has changed, but for a moment at which panels are aside.
  void remember();
  /// Hides the panels while another page takes the whole window; false: they come back.
  void setPanelsAside(bool aside);
  /// The window has another size.
  void fit();

 signals:
  /// The layout is as at first.
  void layoutReset();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void addActions();
  void reset();
  void setDark(bool dark);
  void setFont(int percent);

  QMainWindow* const window_;
  ActionRegistry* const actions_;
  PanelDocks* const docks_;
  const std::vector<RememberedPart> parts_;
  SettingsWriter* const settings_;
  const QString group_;
  QByteArray layout_;       // of the panels that are aside; empty: they are not
  QVariantMap remembered_;  // as it was stored last
  QTimer timer_;
};

}  // namespace mpm::gui
