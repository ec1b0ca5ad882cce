// SPDX-License-Identifier: Apache-2.0
#include "exports.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QProgressDialog>

#include "models/export_job.h"
#include "models/history.h"
#include "models/picture_store.h"
#include "views/chart_panel.h"
#include "views/time_chart.h"

namespace mpm {

Exports::Exports(ChartPanel* chart, const History* history, PictureStore* pictures, QWidget* window)
    : QObject(window), chart_(chart), history_(history), pictures_(pictures), window_(window) {
  connect(pictures_, &PictureStore::saved, this,
          [this](const QString& path) { emit said(tr("The chart was saved to %1").arg(path), "good"); });
}

void Exports::ask() {
  const TimeAxis& axis = chart_->chart()->axis();
  auto* dialog = new ExportDialog(axis.from, axis.to, window_);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &ExportDialog::chosen, this, [this, dialog] {
    const auto format = dialog->format();
    const auto [from, to] = dialog->span();
    auto* file = new QFileDialog(window_, tr("Export to"), QStringLiteral("mpm-monitor.") + dialog->suffix());
    file->setAttribute(Qt::WA_DeleteOnClose);
    file->setAcceptMode(QFileDialog::AcceptSave);
    file->setDefaultSuffix(dialog->suffix());
    connect(file, &QFileDialog::fileSelected, this,
            [this, format, from = from, to = to](const QString& path) { write(format, from, to, path); });
    file->open();
  });
  dialog->open();
}

void Exports::write(ExportDialog::Format format, monitor::UnixMs from, monitor::UnixMs to, const QString& path) {
  if (format == ExportDialog::Format::kChartPng)
    return pictures_->save([scene = chart_->chart()->scene()] { return scene.picture(QSize(1200, 480)); }, path);
  const auto source = chart_->source();
  if (!source) return emit said(tr("There are no samples to export yet"), "warning");
  monitor::ExportOptions options;
  options.format = format == ExportDialog::Format::kCsv        ? monitor::ExportFormat::kCsv
                   : format == ExportDialog::Format::kPhenoCam ? monitor::ExportFormat::kPhenoCam
                                                               : monitor::ExportFormat::kJsonLines;
  options.source = *source;
  options.from = from;
  options.to = to;
  writeSamples(options, path);
}

void Exports::writeSamples(const monitor::ExportOptions& options, const QString& path) {
  auto* job = new ExportJob(history_->database(), options, path, this);
  auto* progress =
      new QProgressDialog(tr("Exporting to %1…").arg(QFileInfo(path).fileName()), tr("Cancel"), 0, 100, window_);
  progress->setMinimumDuration(1000);  // most are done before anybody could read it
  progress->setAutoClose(false);
  progress->setAutoReset(false);
  const auto end = [job, progress] {
    progress->disconnect(job);  // closing it cancels
    progress->deleteLater();
    job->deleteLater();
  };
  connect(job, &ExportJob::progressed, progress, &QProgressDialog::setValue);
  connect(progress, &QProgressDialog::canceled, job, &ExportJob::cancel);
  connect(job, &ExportJob::finished, this, [this, end, path](qint64 samples) {
    end();
    emit said(tr("%n sample(s) exported to %1", nullptr, static_cast<int>(samples)).arg(path), "good");
  });
  connect(job, &ExportJob::cancelled, this, [this, end, path] {
    end();
    emit said(tr("The export was cancelled; %1 is as it was").arg(path), "");
  });
  connect(job, &ExportJob::failed, this, [this, end](const QString& message) {
    end();
    emit failed(message);
  });
}

}  // namespace mpm
