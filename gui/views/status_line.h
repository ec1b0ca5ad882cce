// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/live_frame.h"
#include "gui/views/labels.h"
#include "monitor/session.h"

namespace mpm::gui {

/// The status bar: the connection, what just happened, and the numbers of the frame on show.
class StatusLine : public QStatusBar {
  Q_OBJECT
 public:
  explicit StatusLine(QWidget* parent = nullptr);

  /// `open`: there is a source.
  void setStatus(const monitor::SessionStatus& status, bool open, bool paused);
  void setRecording(const QString& text) { setValue(recording_, text); }
  /// Why samples are not stored; empty: no problem. `stopped`: for good, so another file is offered.
  void setStorageProblem(const QString& problem, bool stopped);
  /// The rules of those that ring now, of the source whose history is on show.
  void setAlarms(const QStringList& ringing);
  /// "tokens 660 → 491 → 377 (−43 %)", and the latency.
  void setFrame(const LiveFramePtr& frame);
  /// Shows what just happened for some seconds, shortened to fit; the whole stays as the tool tip.
  void notify(const QString& text, Badge badge = Badge::kNone);

 signals:
  void otherFileRequested();

 private:
  void showNumbers(bool shown);

  QLabel* const state_;
  QLabel* const age_;
  QLabel* const notice_;
  QLabel* const alarms_;
  QLabel* const storage_;
  QLabel* const recording_;
  QLabel* const speed_;
  QLabel* const latency_;
  QLabel* const tokens_;
  QToolButton* const other_file_;
  QTimer notice_timer_;
};

}  // namespace mpm::gui
