// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>

#include "gui/models/worker.h"

namespace mpm::gui {

/// The picture of a file, no larger than `within`, upright by its EXIF orientation; null where it is none. Decodes no
/// more of a JPEG than it needs.
QImage smallPicture(const QString& file, QSize within);

/// Small pictures of a folder, each read once, on a thread of its own.
class Thumbnails : public QObject {
  Q_OBJECT
 public:
  static constexpr QSize kSize{64, 40};  ///< px, at most

  explicit Thumbnails(const QString& folder, QObject* parent = nullptr);
  ~Thumbnails() override { stop_ = true; }

  /// The pictures of the folder, without their endings: made() for those that were not there before.
  void setNames(const QStringList& names);

 signals:
  void made(const QString& name, const QImage& thumbnail);

 private:
  QString folder_;
  QSet<QString> known_;
  std::atomic<bool> stop_ = false;
  Worker thread_;
};

}  // namespace mpm::gui
