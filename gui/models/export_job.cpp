// SPDX-License-Identifier: Apache-2.0
#include "gui/models/export_job.h"

#include <QFileInfo>
#include <utility>

namespace mpm::gui {

ExportJob::ExportJob(const QString& database, const monitor::NightRule& night, const monitor::ExportOptions& options,
                     const QString& path, QObject* parent)
    : QObject(parent), thread_([this, database, night, options, path](const std::stop_token& stop) {
        run(stop, database, night, options, path);
      }) {}

void ExportJob::run(const std::stop_token& stop, const QString& database, const monitor::NightRule& night,
                    const monitor::ExportOptions& options, const QString& path) {
  const auto nothing_yet = [this] {
    queue([this, message = tr("There is no database to export from yet")] { emit failed(message); });
  };
  try {
    if (database.isEmpty() || !QFileInfo::exists(database)) return nothing_yet();
    monitor::StoreReader reader(database.toStdString());
    reader.setNightRule(night);
    if (reader.count(options.source, options.from, options.to) == 0) return queue([this] { emit finished(0); });
    int shown = 0;
    const auto samples = monitor::exportSamples(reader, options, path.toStdString(), [&](double share) {
      const int percent = static_cast<int>(100 * share);
      if (std::exchange(shown, percent) != percent) queue([this, percent] { emit progressed(percent); });
      return !stop.stop_requested();
    });
    if (samples)
      queue([this, count = static_cast<qint64>(*samples)] { emit finished(count); });
    else
      queue([this] { emit cancelled(); });
  } catch (const monitor::EmptyDatabase&) {
    nothing_yet();  // its writer is about to fill it
  } catch (const std::exception& error) {
    queue([this, message = QString::fromStdString(error.what())] { emit failed(message); });
  }
}

}  // namespace mpm::gui
