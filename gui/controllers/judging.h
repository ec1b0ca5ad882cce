// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/history_browser.h"
#include "gui/controllers/live_monitor.h"
#include "gui/models/camera_configs.h"
#include "gui/models/theme.h"

namespace mpm::gui {

/// Judges the stored samples of a source anew when a person changes what counts as night: see
/// monitor::StoreWriter::judge().
class Judging : public QObject {
  Q_OBJECT
 public:
  Judging(LiveMonitor* live, CameraConfigs* configs, HistoryBrowser* history, QWidget* window);

  bool running() const { return running_ > 0; }

 signals:
  void said(const QString& text, mpm::gui::Badge badge);
  void failed(const QString& message);

 private:
  void begin(const QString& source);

  LiveMonitor* const live_;
  CameraConfigs* const configs_;
  HistoryBrowser* const history_;
  QWidget* const window_;
  int running_ = 0;
};

}  // namespace mpm::gui
