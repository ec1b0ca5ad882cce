// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/worker.h"
#include "monitor/watch/watch.h"

namespace mpm::gui {

/// The cameras of a watch file, with what `mpm monitor` has stored of each: state, last picture, numbers of its last
/// day. Reads the databases on a thread of its own.
class CameraList : public QStandardItemModel {
  Q_OBJECT
 public:
  static constexpr QSize kPicture{224, 140};  ///< px, at most

  explicit CameraList(QObject* parent = nullptr);
  ~CameraList() override { thread_.giveUp(); }

  /// Throws mpm::Error as monitor::readWatches(); then the cameras are those of before.
  void open(const QString& file);
  const monitor::Watch& watch(int row) const;
  QString name(int row) const { return QString::fromStdString(monitor::cameraName(watch(row))); }
  /// Reads the databases now and every few seconds, or no longer.
  void follow(bool on) { on ? read() : timer_.stop(); }

 private:
  struct Reader;
  void read();
  void show(int row, const QStringList& lines, const QImage& picture);

  std::vector<std::shared_ptr<Reader>> readers_;
  QTimer timer_;
  Worker thread_;
};

}  // namespace mpm::gui
