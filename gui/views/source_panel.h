// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/models/recents.h"
#include "gui/models/theme.h"
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

  /// "Live", "Retrying (3, next in 5 s)"; in the user's language. Of a session: SessionStatus::shownSource().
  static QString stateText(const monitor::CaptureStatus& status);
  /// "39 of 40 pictures are stored"; empty until it has ended, and where nothing is stored of it.
  static QString storedText(const monitor::SessionStatus& all);
  /// CaptureStatus::message; of pictures that could not be read in the user's language.
  static QString messageText(const monitor::CaptureStatus& status);
  static Badge stateBadge(const monitor::SessionStatus& all);

 private:
  const QAction* const pause_;
  QLabel* const title_;
  QLabel* const detail_;
  QLabel* const state_;
  QLabel* const message_;
  QLabel* const counters_;
  QLabel* const model_;
  QLabel* const model_detail_;
  QPushButton* const close_;
  vision::SourceKind kind_ = vision::SourceKind::kMissing;
};

/// Frames have stopped: the last one is not what the camera sees now.
bool isOld(const monitor::CaptureStatus& status);

/// The source has ended without a frame.
bool gaveNothing(const monitor::CaptureStatus& status);

}  // namespace mpm::gui
