// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/live_monitor.h"
#include "gui/models/theme.h"
#include "gui/models/worker.h"
#include "gui/views/folder_bar.h"

namespace mpm::gui {

/// Goes through the pictures of the open folder, which pauses: the model runs on the chosen one, no new sample.
class FolderBrowser : public QObject {
  Q_OBJECT
 public:
  /// `bar` outlives this.
  FolderBrowser(FolderBar* bar, LiveMonitor* live, QAction* pause, QObject* parent = nullptr);

  /// Another source; empty: none. One that is neither a folder nor a glob has no pictures. `times`: how those of an
  /// archive are read; nullopt: the pictures count as taken when they are read.
  void setSource(const QString& source, const std::optional<vision::TimeOptions>& times);
  /// Paths, in the order in which the source gives them.
  QStringList files() const;
  /// A frame is on show: the bar follows.
  void follow(const LiveFrame& frame);
  void step(int by);

 signals:
  /// A person chose this picture; empty: it cannot be read, so that what is watched goes on.
  void chosen(const QString& file);
  void said(const QString& text, mpm::gui::Badge badge);

 private:
  void show(int index);

  FolderBar* const bar_;
  LiveMonitor* const live_;
  QAction* const pause_;
  Worker thread_;
};

}  // namespace mpm::gui
