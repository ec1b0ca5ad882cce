// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/live_frame.h"
#include "gui/models/recents.h"
#include "gui/views/look.h"
#include "monitor/session.h"

namespace mpm::gui {

/// The source, the state of its connection, and the model.
class SourcePanel : public QWidget {
  Q_OBJECT
 public:
  struct Actions {
    QAction *open, *pause, *close, *model;
  };
  explicit SourcePanel(const Actions& actions, QWidget* parent = nullptr);

  void setSource(const QString& source);
  void setModel(const ModelInfo* info, const QString& path);
  void setStatus(const monitor::SessionStatus& all);

  /// "Live", "Retrying (3, next in 5 s)"; in the user's language.
  static QString stateText(const monitor::CaptureStatus& status);
  /// "39 of 40 pictures are stored".
  static QString storedText(const monitor::SessionStatus& all);
  static Badge stateBadge(const monitor::CaptureStatus& status);

 private:
  QLabel *title_, *detail_, *state_, *message_, *counters_, *model_, *model_detail_;
  const QAction* pause_;
  QPushButton* close_;
  vision::SourceKind kind_ = vision::SourceKind::kMissing;
};

/// Frames have stopped: the last one is not what the camera sees now.
bool isOld(const monitor::CaptureStatus& status);
/// The source has ended without a frame.
bool gaveNothing(const monitor::CaptureStatus& status);

/// The status bar: the connection, what just happened, and the numbers of the frame on show.
class StatusLine : public QStatusBar {
  Q_OBJECT
 public:
  explicit StatusLine(QWidget* parent = nullptr);

  /// `open`: there is a source.
  void setStatus(const monitor::CaptureStatus& capture, const monitor::InferenceStatus& inference, bool open,
                 bool paused);
  void setRecording(const QString& text) { setValue(recording_, text); }
  /// Why samples are not stored; empty: no problem. `stopped`: for good, so another file is offered.
  void setStorageProblem(const QString& problem, bool stopped);
  /// "tokens 660 → 491 → 377 (−43 %)", and the latency.
  void setFrame(const LiveFramePtr& frame);
  /// Shows what just happened for some seconds, shortened to fit; the whole stays as the tool tip.
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
