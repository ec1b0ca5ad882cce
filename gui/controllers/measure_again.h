// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/camera_control.h"
#include "gui/controllers/history_browser.h"

namespace mpm::gui {

/// Asks whether the stored pictures of the archive that is open are to be measured again: with another model, other
/// regions or states. The new numbers are a series of their own; what is stored stays.
class MeasureAgain : public QObject {
  Q_OBJECT
 public:
  MeasureAgain(CameraControl* camera, const LiveMonitor* live, const HistoryBrowser* history, QWidget* window)
      : QObject(window), camera_(camera), live_(live), history_(history), window_(window) {}

  /// Asks, or says why there is nothing to measure.
  void ask();
  /// Asks, if there is something to measure.
  void offer();

 signals:
  void said(const QString& text, mpm::gui::Badge badge);

 private:
  bool anyStored() const;  // pictures of the archive that is open

  CameraControl* const camera_;
  const LiveMonitor* const live_;
  const HistoryBrowser* const history_;
  QWidget* const window_;
  QPointer<QMessageBox> question_;
};

}  // namespace mpm::gui
