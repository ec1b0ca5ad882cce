// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <optional>

#include "gui/models/folder_pictures.h"
#include "gui/models/live_frame.h"

class QAction;

namespace mpm::gui {

class FolderBar;
class LiveMonitor;

/// Goes through the pictures of the folder that is open: the model runs on the chosen one, which is no new sample. What
/// still plays is paused.
class FolderView : public QObject {
  Q_OBJECT
 public:
  /// `bar` outlives this.
  FolderView(FolderBar* bar, LiveMonitor* live, QAction* pause, QObject* parent = nullptr);

  /// Another source; empty: none.
  void setSource(const QString& source) { pictures_.setSource(source); }
  const QStringList& files() const { return pictures_.files(); }
  /// A frame is on show: the bar follows.
  void follow(const LiveFrame& frame);
  void step(int by);

 signals:
  /// A picture was chosen.
  void chosen();
  void said(const QString& text, const char* badge);

 private:
  void show(int index);

  FolderBar* bar_;
  LiveMonitor* live_;
  QAction* pause_;
  FolderPictures pictures_;
  QString wanted_;  // chosen, and not on show yet: frames before it do not move the bar
};

}  // namespace mpm::gui
