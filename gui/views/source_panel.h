// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QWidget>

#include "gui/models/recents.h"
#include "monitor/capture/inference.h"

class QLabel;
class QPushButton;

namespace mpm::gui {

/// What is watched with which model, and how the connection is.
class SourcePanel : public QWidget {
  Q_OBJECT
 public:
  explicit SourcePanel(QWidget* parent = nullptr);

  void setSource(const QString& source);
  void setModel(const ModelInfo* info, const QString& path);
  void setStatus(const monitor::CaptureStatus& status);
  void setPaused(bool paused);
  QString stateText() const;
  QString countersText() const;

 signals:
  void changeSourceRequested();
  void changeModelRequested();
  void pauseRequested();
  void closeRequested();

 private:
  QLabel *title_, *detail_, *state_, *message_, *counters_, *model_, *model_detail_;
  QPushButton *pause_, *close_;
  bool paused_ = false;
  vision::SourceKind kind_ = vision::SourceKind::kMissing;
};

/// "Live", "Retrying (3, next in 5 s)"; in the user's language.
QString stateText(const monitor::CaptureStatus& status);
const char* stateBadge(const monitor::CaptureStatus& status);
/// What was seen last is no longer what the camera sees.
bool isOld(const monitor::CaptureStatus& status);
/// It has ended, and no frame ever came.
bool gaveNothing(const monitor::CaptureStatus& status);

}  // namespace mpm::gui
