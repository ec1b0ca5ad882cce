// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QStatusBar>
#include <QTimer>

#include "gui/models/live_frame.h"
#include "monitor/capture/inference.h"

class QLabel;

namespace mpm::gui {

/// The line below the window: how the connection is, what just happened, and the numbers of the frame on show.
class StatusLine : public QStatusBar {
  Q_OBJECT
 public:
  explicit StatusLine(QWidget* parent = nullptr);

  /// `open`: there is a source.
  void setStatus(const monitor::CaptureStatus& capture, const monitor::InferenceStatus& inference, bool open,
                 bool paused);
  void setRecording(const QString& text);
  /// Why samples are not stored; empty: they are, or nobody asked for it.
  void setStorageProblem(const QString& problem);
  void setFrame(const LiveFrame& frame);
  void clearFrame();
  /// Says what just happened, for some seconds, cut where it is too long; all of it stays as the tool tip. `badge` as
  /// of setBadge().
  void notify(const QString& text, const char* badge = "");

  QString state() const;
  QString age() const;
  QString notice() const;
  QString tokens() const;
  QString storageProblem() const;

  /// "tokens 660 → 491 → 377 (−43 %)"; empty without a result.
  static QString tokensText(const LiveFrame& frame);

 private:
  QLabel* add(const QString& name, int stretch);
  QLabel* addRight(const QString& name);

  QLabel *state_, *age_, *notice_, *storage_, *recording_, *speed_, *latency_, *tokens_;
  QTimer notice_timer_;
};

}  // namespace mpm::gui
