// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/models/recents.h"
#include "gui/models/stored_camera.h"
#include "gui/models/worker.h"

namespace mpm::gui {

/// All cameras of a watch file; also knows which one is watched in place of them. While all are on show, their
/// databases are read every few seconds, on a thread of its own.
class CamerasPage : public QListWidget {
  Q_OBJECT
 public:
  explicit CamerasPage(QWidget* parent = nullptr);
  ~CamerasPage() override { thread_.giveUp(); }

  /// Shows the cameras of a file, or chooses its only one. Throws mpm::Error as monitor::readWatchFile(); then they are
  /// those of before.
  void open(const QString& file);
  void showAll() { setShown(kAll); }
  /// This camera is watched.
  void show(int row) { setShown(row); }
  /// From a camera back to all.
  void back() {
    if (shown_ >= 0) showAll();
  }
  /// Something else is on show.
  void leave() { setShown(kNone); }

  bool allShown() const { return shown_ == kAll; }
  QString title() const { return shown_ < 0 ? QString() : titleOf(shown_); }  ///< of the camera that is watched
  std::vector<monitor::CameraConfig> cameras() const;

 signals:
  /// A person chose a row of cameras().
  void chosen(int row);
  /// allShown() or title() may have changed.
  void shownChanged();

 private:
  static constexpr int kNone = -2, kAll = -1;
  void setShown(int row);
  const monitor::CameraConfig& config(int row) const { return cameras_[static_cast<std::size_t>(row)]->config; }
  QString titleOf(int row) const { return cameraTitle(config(row)); }
  void read();
  void describe(int row, const QStringList& lines, const QImage& picture);

  std::vector<std::shared_ptr<StoredCamera>> cameras_;
  int shown_ = kNone;  // the row of a camera, or one of these
  QTimer timer_;
  Worker thread_;
};

}  // namespace mpm::gui
