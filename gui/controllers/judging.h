// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/history_browser.h"
#include "gui/controllers/live_monitor.h"
#include "gui/models/camera_configs.h"
#include "gui/models/theme.h"

namespace mpm::gui {

/// Judges what our own database has of a source anew when a person changes what counts as night, whatever is on show:
/// see monitor::StoreWriter::judge(). One after the other, so that the last rule counts.
class Judging : public QObject {
  Q_OBJECT
 public:
  Judging(LiveMonitor* live, CameraConfigs* configs, HistoryBrowser* history, QWidget* window);

  bool running() const { return running_; }

 signals:
  void said(const QString& text, mpm::gui::Badge badge);
  void failed(const QString& message);

 private:
  void add(const QString& source);
  void begin(const QString& source);

  LiveMonitor* const live_;
  CameraConfigs* const configs_;
  HistoryBrowser* const history_;
  QWidget* const window_;
  bool running_ = false;
  QStringList waiting_;  // sources whose rule changed while another one is judged
};

}  // namespace mpm::gui
