// SPDX-License-Identifier: Apache-2.0
#include "opener.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QSettings>

#include "live_monitor.h"
#include "models/settings_writer.h"
#include "mpm/error.hpp"
#include "views/source_dialog.h"

namespace mpm {

Opener::Opener(const Named& named, const LiveMonitor* live, QSettings& stored, SettingsWriter* settings,
               QWidget* window)
    : QObject(window),
      named_(named),
      live_(live),
      settings_(settings),
      window_(window),
      recents_(loadRecents(stored)) {}

void Opener::remember(const std::optional<Schedule>& schedule) {
  if (!live_->isOpen()) return;
  const QString shown = QString::fromStdString(live_->sourceName()), model = QString::fromStdString(live_->model());
  recents_ = remembered(
      recents_, {sourceKind(shown) == SourceKind::kDemo ? QStringLiteral("demo:") : shown,
                 model.isEmpty() ? model : QFileInfo(model).absoluteFilePath(),
                 schedule ? QString::fromStdString(toString(*schedule)) : QString(), QDateTime::currentDateTime()});
  settings_->change([recents = recents_](QSettings& settings) { saveRecents(settings, recents); });
}

void Opener::open(const QString& asked) {
  const QString path = localPath(asked);
  if (path.endsWith(QLatin1String(".onnx"), Qt::CaseInsensitive)) return emit modelChosen(path, std::nullopt);
  if (path.endsWith(QLatin1String(".db"), Qt::CaseInsensitive)) return emit databaseChosen(path);
  emit sourceChosen(path);
}

void Opener::openRecent(const Recent& recent) { openRemembered(recent, true, true); }

void Opener::resumeLast() {
  if (recents_.isEmpty()) return emit said(tr("Nothing was watched yet: choose a source"), "");
  const Recent last = recents_.front();  // a copy: opening it puts it in front
  // What the command line names is newer than what is remembered, and a schedule belongs to its model.
  const bool model_named = !named_.model.isEmpty();
  const bool same_model = model_named && QFileInfo(named_.model).absoluteFilePath() == last.model;
  openRemembered(last, !model_named, !named_.schedule && (same_model || !model_named));
}

void Opener::openRemembered(const Recent& recent, bool take_model, bool take_schedule) {
  std::optional<Schedule> schedule = take_schedule ? std::nullopt : named_.schedule;
  try {
    if (take_schedule && !recent.schedule.isEmpty()) schedule = parseSchedule(recent.schedule.toStdString());
  } catch (const Error&) {  // settings edited by hand: the model's own schedule stands
  }
  const bool gone = take_model && !recent.model.isEmpty() && !QFileInfo::exists(recent.model);
  if (gone) {  // blocks of another model mean nothing to the one that is loaded
    const QString other = QFileInfo(QString::fromStdString(live_->model())).fileName();
    emit modelGone(other.isEmpty() ? tr("%1 is gone").arg(recent.model)
                                   : tr("%1 is gone; going on with %2").arg(recent.model, other));
  } else if (take_model && !recent.model.isEmpty()) {
    emit modelChosen(recent.model, schedule);
  } else if (take_schedule && schedule) {
    emit scheduleChosen(*schedule);
  }
  if (!recent.needsPassword()) return emit sourceChosen(recent.source);
  auto* dialog = new SourceDialog(SourceKind::kAddress, window_);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setSource(recent.source);
  connect(dialog, &SourceDialog::chosen, this, &Opener::sourceChosen);
  dialog->open();
}

void Opener::askForSource(SourceKind kind) {
  auto* dialog = new SourceDialog(kind, window_);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &SourceDialog::chosen, this, &Opener::sourceChosen);
  dialog->open();
}

void Opener::askForModel() {
  auto* dialog = new QFileDialog(window_, tr("Open a model"), {}, tr("ONNX models (*.onnx)"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this,
          [this](const QString& path) { emit modelChosen(path, std::nullopt); });
  dialog->open();
}

void Opener::askForDatabase() {
  auto* dialog = new QFileDialog(window_, tr("Open a database"), {}, tr("Databases (*.db);;All files (*)"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, &Opener::databaseChosen);
  dialog->open();
}

}  // namespace mpm
