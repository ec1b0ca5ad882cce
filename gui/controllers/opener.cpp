// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/opener.h"

#include "gui/views/file_dialogs.h"
#include "gui/views/look.h"
#include "gui/views/source_dialog.h"

namespace mpm::gui {
namespace {

QString textOf(const std::optional<Reduction>& variant) {
  return variant ? QString::fromStdString(toString(*variant)) : QString();
}

// In the order in which they are opened: a source begins with the model that came with it, and shows its own history.
enum class What { kModel, kSource, kDatabase, kWatchFile };

What whatIs(const QString& path) {
  for (const auto& [ending, what] :
       {std::pair(".onnx", What::kModel), {".db", What::kDatabase}, {".toml", What::kWatchFile}})
    if (path.endsWith(QLatin1String(ending), Qt::CaseInsensitive)) return what;
  return What::kSource;
}

// When it was written, and its size; nullopt: there is no such file.
std::optional<std::pair<QDateTime, qint64>> stateOf(const QString& path) {
  const QFileInfo file(path);
  return file.exists() ? std::optional(std::pair(file.lastModified(), file.size())) : std::nullopt;
}

std::optional<Reduction> reductionOf(const QString& text) {
  try {
    if (!text.isEmpty()) return parseReduction(text.toStdString());
  } catch (const Error&) {  // settings edited by hand: the model's own reduction stands
  }
  return std::nullopt;
}

}  // namespace

Opener::Opener(const Named& named, const LiveMonitor* live, QSettings& stored, SettingsWriter* settings,
               QWidget* window)
    : QObject(window), named_(named), live_(live), settings_(settings), window_(window), recents_(loadRecents(stored)) {
  connect(&look_, &QTimer::timeout, this, &Opener::lookForModel);
}

void Opener::want(const std::optional<Recent>& recent) {
  wanted_ = recent;
  if (!recent) return look_.stop();
  tried_ = seen_ = stateOf(recent->model);
  look_.start(2000);
}

// A new file counts when two looks find it the same: one that is being copied is not read half-way.
void Opener::lookForModel() {
  const FileState now = stateOf(wanted_->model);
  if (std::exchange(seen_, now) != now || now == tried_) return;
  tried_ = now;
  if (now) emit modelChosen(wanted_->model, reductionOf(wanted_->reduce));
}

void Opener::remember(const QString& source, const std::optional<Reduction>& variant) {
  const QString model = QFileInfo(live_->model()).absoluteFilePath();
  const QString name = QString::fromStdString(sourceSpec(source).name());
  if (wanted_ && (wanted_->model == model || wanted_->source != name)) want(std::nullopt);
  recents_ = remembered(
      recents_, {name, wanted_ ? wanted_->model : model, wanted_ ? wanted_->reduce : textOf(variant), unixNow()});
  settings_->change([recents = recents_](QSettings& settings) { saveRecents(settings, recents); });
}

QVector<Recent>::const_iterator Opener::recentOf(const QString& source) const {
  const QString name = QString::fromStdString(sourceSpec(source).name());
  return std::find_if(recents_.begin(), recents_.end(), [&](const Recent& one) { return one.source == name; });
}

void Opener::open(const QString& asked) {
  const QString path = localPath(asked);
  const What what = whatIs(path);
  if (what == What::kModel) return chooseModel(path);
  if (what == What::kWatchFile) return emit watchFileChosen(path);
  what == What::kDatabase ? emit databaseChosen(path) : emit sourceChosen(path);
}

void Opener::open(const QStringList& asked) {
  QStringList first(4), sources;  // of each kind
  for (const QString& one : asked) {
    const QString path = localPath(one);
    const What what = whatIs(path);
    if (what == What::kSource) sources << path;
    if (first[static_cast<int>(what)].isEmpty()) first[static_cast<int>(what)] = path;
  }
  const QString folder = sources.isEmpty() ? QString() : QFileInfo(sources[0]).absolutePath();
  const bool pictures = std::all_of(sources.begin(), sources.end(), [&](const QString& path) {
    return sourceSpec(path).kind == vision::SourceKind::kImage && QFileInfo(path).absolutePath() == folder;
  });
  if (pictures && sources.size() > 1) first[static_cast<int>(What::kSource)] = folder;
  for (const QString& path : first)
    if (!path.isEmpty()) open(path);
  if (sources.size() < 2) return;
  if (pictures)
    emit said(tr("The folder of these pictures: %1").arg(folder), Badge::kNone);
  else
    emit said(tr("One source at a time: %1").arg(sources[0]), Badge::kWarning);
}

// It takes the place of one that was wanted and gone.
void Opener::chooseModel(const QString& path) {
  want(std::nullopt);
  emit modelChosen(path, std::nullopt);
}

void Opener::openRecent(const Recent& recent) {
  takeModelOf(recent, true, true);
  openSourceOf(recent);
}

void Opener::openSourceOf(const Recent& recent) {
  if (!recent.needsPassword()) return emit sourceChosen(recent.source);
  showSourceDialog(vision::SourceKind::kUrl, recent.source);
}

void Opener::openNamed(const QString& asked) {
  const QString path = localPath(asked);
  if (whatIs(path) == What::kSource && knows(path)) goOnWithModelOf(*recentOf(path));
  open(path);
}

void Opener::resumeLast() {
  if (recents_.isEmpty()) return emit said(tr("Nothing was watched yet: choose a source"), Badge::kNone);
  const Recent last = recents_.front();  // a copy: opening it puts it in front
  goOnWithModelOf(last);
  openSourceOf(last);
}

// A choice on the command line is newer than what is remembered, and a reduction belongs to its model.
void Opener::goOnWithModelOf(const Recent& recent) {
  const bool model_named = !named_.model.isEmpty();
  const bool same_model = model_named && QFileInfo(named_.model).absoluteFilePath() == recent.model;
  takeModelOf(recent, !model_named, !named_.reduction && (same_model || !model_named));
}

void Opener::takeModelOf(const Recent& recent, bool take_model, bool take_reduction) {
  const std::optional<Reduction> variant = take_reduction ? reductionOf(recent.reduce) : named_.reduction;
  const bool remembered_model = take_model && !recent.model.isEmpty();
  want(remembered_model ? std::optional(Recent{recent.source, recent.model, textOf(variant), {}}) : std::nullopt);
  const bool gone = remembered_model && !QFileInfo::exists(recent.model);
  if (gone) {  // blocks of another model mean nothing to the one that is loaded
    const QString other = QFileInfo(live_->model()).fileName();
    emit modelGone(other.isEmpty() ? tr("%1 is gone").arg(recent.model)
                                   : tr("%1 is gone; going on with %2").arg(recent.model, other));
  } else if (remembered_model) {
    emit modelChosen(recent.model, variant);
  } else if (take_reduction && variant) {
    emit reductionChosen(*variant);
  }
}

void Opener::askForSource(std::optional<vision::SourceKind> kind) {
  if (!kind && !recents_.isEmpty()) return showSourceDialog({}, recents_.front().source);
  showSourceDialog(kind.value_or(vision::SourceKind::kVideo), {});
}

void Opener::showSourceDialog(vision::SourceKind kind, const QString& source) {
  auto* dialog = new SourceDialog(kind, window_);
  QStringList known;
  for (const Recent& recent : recents_) known << recent.source;
  dialog->setKnown(known);
  if (!source.isEmpty()) dialog->setSource(source);
  connect(dialog, &SourceDialog::chosen, this, &Opener::sourceChosen);
  openDialog(dialog);
}

void Opener::askForModel() {
  askForFile(window_, tr("Open a model"), QFileInfo(live_->model()).absolutePath(), tr("ONNX models (*.onnx)"),
             [this](const QString& file) { chooseModel(file); });
}

void Opener::askForDatabase() {
  askForFile(window_, tr("Open a database or a watch file"),
             recents_.isEmpty() ? QString() : sourceFolder(recents_.front().source),
             tr("Databases and watch files (*.db *.toml);;All files (*)"), [this](const QString& file) {
               whatIs(file) == What::kWatchFile ? emit watchFileChosen(file) : emit databaseChosen(file);
             });
}

void Opener::askForNewDatabase(const QString& proposed) {
  askWhereToWrite(
      window_, tr("Store in a new file"), proposed, tr("Databases (*.db);;All files (*)"), QStringLiteral("db"),
      [this](const QString& file) { emit newDatabaseChosen(file); },
      QFileDialog::DontConfirmOverwrite);  // one that is there is continued, or renamed
}

}  // namespace mpm::gui
