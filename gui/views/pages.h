// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/camera_list.h"
#include "gui/models/recents.h"
#include "gui/views/look.h"

namespace mpm::gui {

/// All cameras of a watch file; also knows which one is on show in place of them.
class CamerasPage : public QListView {
  Q_OBJECT
 public:
  explicit CamerasPage(QWidget* parent = nullptr);

  /// Shows the cameras of a file, or its only one. Throws mpm::Error as monitor::readWatches().
  void open(const QString& file);
  void choose(int row);
  void chooseAll() { setShown(kAll); }
  /// Chooses the next camera, or with -1 the one before.
  void step(int by);
  /// From a camera back to all.
  void back() {
    if (shown_ >= 0) chooseAll();
  }
  /// Something else is on show.
  void leave() { setShown(kNone); }

  bool allShown() const { return shown_ == kAll; }
  QString name() const { return shown_ < 0 ? QString() : list_.name(shown_); }  ///< of the camera on show
  int cameras() const { return list_.rowCount(); }

 signals:
  void chosen(const mpm::monitor::Watch& camera);
  /// allShown() or name() may have changed.
  void shownChanged();

 private:
  static constexpr int kNone = -2, kAll = -1;
  void setShown(int row);

  CameraList list_;
  int shown_ = kNone;  // the row of a camera, or one of these
};

/// The first page: the ways to begin.
class WelcomePage : public QWidget {
  Q_OBJECT
 public:
  explicit WelcomePage(QAction* demo, QWidget* parent = nullptr);
  void setRecents(const QVector<Recent>& recents);

 signals:
  void kindRequested(mpm::vision::SourceKind kind);
  void recentRequested(const mpm::gui::Recent& recent);

 private:
  QVBoxLayout* recents_;
  QWidget* recents_box_;
};

}  // namespace mpm::gui
