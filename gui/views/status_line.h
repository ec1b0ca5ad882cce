// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/models/live_frame.h"
#include "gui/models/theme.h"
#include "monitor/capture/inference.h"

namespace mpm::gui {

/// The status bar: the connection, what just happened, and the numbers of the frame on show.
class StatusLine : public QStatusBar {
  Q_OBJECT
 public:
  explicit StatusLine(QWidget* parent = nullptr);

  /// `open`: there is a source.
  void setStatus(const monitor::CaptureStatus& capture, const monitor::InferenceStatus& inference, bool open,
                 bool paused);
  void setRecording(const QString& text);
  /// Why samples are not stored; empty: no problem. `stopped`: for good, so another file is offered.
  void setStorageProblem(const QString& problem, bool stopped);
  /// "tokens 660 → 491 → 377 (−43 %)", and the latency.
  void setFrame(const LiveFramePtr& frame);
  /// Shows what just happened for some seconds, shortened to fit; the whole stays as the tool tip. `badge` as in
  /// setBadge().
  void notify(const QString& text, Badge badge = Badge::kNone);

 signals:
  void otherFileRequested();

 private:
  void showNumbers(bool shown);

  QLabel *state_, *age_, *notice_, *storage_, *recording_, *speed_, *latency_, *tokens_;
  QToolButton* other_file_;
  QTimer notice_timer_;
};

}  // namespace mpm::gui
