// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QString>
#include <stop_token>
#include <thread>

#include "monitor/store/export.h"

namespace mpm::gui {

/// One export of samples, with its own thread and database connection: a year of samples takes minutes, and
/// neither the window nor what else is asked of the database waits for it. The file is whole or as it was.
class ExportJob : public QObject {
  Q_OBJECT
 public:
  /// Begins at once. Ends in finished(), failed() or cancelled(). Of no samples there is no file.
  ExportJob(const QString& database, const monitor::NightRule& night, const monitor::ExportOptions& options,
            const QString& path, QObject* parent = nullptr);
  void cancel() { thread_.request_stop(); }

 signals:
  void progressed(int percent);
  void finished(qint64 samples);
  void failed(const QString& message);
  void cancelled();

 private:
  void run(const std::stop_token& stop, const QString& database, const monitor::NightRule& night,
           const monitor::ExportOptions& options, const QString& path);
  // Signals are emitted on the thread of this object.
  template <typename Emit>
  void queue(Emit emission) {
    QMetaObject::invokeMethod(this, std::move(emission), Qt::QueuedConnection);
  }

  std::jthread thread_;  // last: asked to stop and waited for before the rest goes
};

}  // namespace mpm::gui
