// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/watch_rules.h"

#include "base/atomic_file.h"
#include "base/hash.h"
#include "gui/models/recents.h"
#include "gui/views/watch_dialogs.h"
#include "program/paths.h"

namespace mpm::gui {
namespace {

using monitor::CameraConfig;
using vision::SourceKind;

// Each demo has a moment of its own, and all are one source.
QString keyOf(const QString& source) {
  const vision::SourceSpec spec = sourceSpec(source);
  const QString name = QString::fromStdString(spec.name());
  return spec.kind == SourceKind::kDemo ? name.section(QLatin1Char('?'), 0, 0) : name;
}

}  // namespace

WatchRules::WatchRules(const QString& folder, SettingsWriter* settings, QWidget* window)
    : QObject(window), folder_(folder), settings_(settings), window_(window) {}

QString WatchRules::file(const QString& source) const {
  const std::string key = keyOf(source).toStdString();  // however the source was written
  const std::string name = program::fileName(sourceTitle(QString::fromStdString(key)).toStdString());
  return QStringLiteral("%1/%2-%3.toml")
      .arg(folder_, QString::fromStdString(name))
      .arg(hashBytes(key), 16, 16, QLatin1Char('0'));
}

WatchRules::Known& WatchRules::of(const QString& source) {
  const QString key = keyOf(source);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  Known& known = known_[key];
  known.watch.source = key.toStdString();
  if (sourceSpec(source).kind != SourceKind::kDemo) known.watch.night = "brightness";
  if (const QString path = file(source); QFile::exists(path)) try {
      const monitor::WatchFile read = monitor::readWatchFile(path.toStdString());
      known.watch = read.cameras.front().config;
      known.tables = read.tables;
    } catch (const Error& error) {
      known.damaged = true;
      const QString why = tr("%1. Until it is mended, what is chosen counts for this run only");
      QMetaObject::invokeMethod(
          this, [this, text = why.arg(QString::fromUtf8(error.what()))] { emit failed(text); }, Qt::QueuedConnection);
    }
  interpret(known);
  return known;
}

void WatchRules::follow(const CameraConfig& camera) {
  Known& known = of(QString::fromStdString(camera.source));
  known.watch = camera;
  known.camera = {};
  known.followed = true;
  for (const monitor::CameraField& field : monitor::cameraFields())
    if (field.group == std::string(monitor::kKeepGroup) || field.key == "on-event")
      std::visit([&](auto member) { known.watch.*member = {}; }, field.member);
  interpret(known);
}

// A field that makes no sense, or whose file is gone, does not count, and this is said. If that field is `hide`, the
// whole picture is blurred, as for each class that the model lacks: no model has a class "*".
void WatchRules::interpret(Known& known) {
  CameraConfig usable = known.watch;
  const auto regions = known.camera.plan.regions;  // their file may be on its way to the disk
  if (regions) usable.regions.clear();
  if (usable.times.empty()) usable.times = "none";  // nobody was asked yet
  while (true) try {
      known.camera = monitor::cameraOf(usable, nullptr);
      if (regions) known.camera.plan.regions = regions;
      return;
    } catch (const monitor::CameraConfigError& error) {
      const CameraConfig before = usable;
      if (error.key == "hide") usable.blur = {"*"};
      std::visit([&](auto member) { usable.*member = {}; }, monitor::cameraField(error.key).member);
      if (usable == before)
        usable = {.source = usable.source, .times = "none", .hide = usable.hide, .blur = usable.blur};
      const QString why = QString::fromStdString(error.key + ": " + error.what());
      QMetaObject::invokeMethod(
          this, [this, why] { emit failed(why); }, Qt::QueuedConnection);
    }
}

void WatchRules::write(const QString& source, const CameraConfig& watch) {
  const Known& known = of(source);
  if (known.damaged) return;
  settings_->run([path = file(source).toStdString(), text = monitor::watchText({watch}, known.tables)] {
    program::makeFolder(QFileInfo(QString::fromStdString(path)).path().toStdString());
    writeFileAtomically(path, text, true);
  });
}

void WatchRules::change(const QString& source, const CameraConfig& watch) {
  Known& known = of(source);
  if (known.watch == watch && watch.states.empty()) return;  // a file of states may have changed
  const monitor::NightRule night = known.camera.plan.night;
  known.watch = watch;
  interpret(known);
  write(source, watch);
  if (known.camera.plan.night != night) emit nightChanged(source);
  emit changed(source);
}

const std::vector<vision::Region>& WatchRules::regions(const QString& source) {
  static const std::vector<vision::Region> none;
  const auto& regions = of(source).camera.plan.regions;
  return regions ? *regions : none;
}

void WatchRules::propose(const QString& source, const std::vector<vision::Region>& regions) {
  auto& known = of(source).camera.plan.regions;
  if (!regions.empty() && !known) known = regions;
}

void WatchRules::useStates(const QString& source, const evaluation::StateHead& head, const QString& file, bool use) {
  CameraConfig watch = of(source).watch;
  std::erase_if(watch.states, [&](const std::string& path) {
    try {
      return path == file.toStdString() || evaluation::readStates(path).name == head.name;
    } catch (const Error&) {  // it is gone
      return true;
    }
  });
  if (use) watch.states.push_back(file.toStdString());
  change(source, watch);
}

// A folder is looked through, not played, and a live picture is shown between samples.
monitor::Camera WatchRules::camera(const QString& source) {
  const Known& known = of(source);
  monitor::Camera camera = known.camera;
  monitor::CameraPlan& options = camera.plan;
  options.source = sourceSpec(source);
  options.every_frame = isNumbered(options.source);
  options.samples_only = options.resume_demo = false;
  options.every_s = known.watch.every.value_or(options.every_frame ? 0 : 1);
  const SourceKind kind = options.source.kind;
  options.max_fps = kind == SourceKind::kFolder || kind == SourceKind::kGlob ? 4 : kind == SourceKind::kDemo ? 10 : 25;
  if (options.archive) {
    options.archive->show_last = true;
    options.max_fps = 0;
  }
  return camera;
}

monitor::SnapshotOptions WatchRules::snapshotOptions(const QString& source, const QString& pictures) {
  constexpr double kReserveMb = 200;
  const CameraConfig& watch = of(source).watch;
  monitor::SnapshotOptions options = of(source).camera.session.snapshots;
  options.folder = pictures.toStdString();
  options.reserve_megabytes = kReserveMb;
  options.every_minutes = watch.snapshot_every;  // else none but those that are asked for
  return options;
}

bool WatchRules::knowsTimes(const QString& source) {
  const SourceKind kind = sourceSpec(source).kind;
  return (kind != SourceKind::kFolder && kind != SourceKind::kGlob) || !of(source).watch.times.empty();
}

void WatchRules::askTimes(const QString& source, bool of_new_folder) {
  forgetTimes();
  auto* dialog = new TimesDialog(sourceSpec(source), of(source).watch, window_);
  asking_ = dialog;
  connect(dialog, &TimesDialog::chosen, this, [this, source](const CameraConfig& watch) {
    asking_.clear();  // it ends by itself
    change(source, watch);
    emit timesChosen(source);
  });
  if (!of_new_folder) return openDialog(dialog);
  connect(dialog, &TimesDialog::looked, dialog, [dialog] {
    if (dialog->isVisible()) return;
    if (dialog->times()) return openDialog(dialog);
    dialog->accept();
    dialog->deleteLater();
  });
}

void WatchRules::ask(const QString& source, const QString& title, const char* group, const QStringList& notes) {
  auto* dialog =
      new WatchDialog(tr("%1 of %2").arg(title, sourceTitle(source)), group, of(source).watch, notes, window_);
  connect(dialog, &WatchDialog::chosen, this, [this, source](const CameraConfig& watch) { change(source, watch); });
  openDialog(dialog);
}

// To have no region is also a choice: without it the regions in the database would count.
void WatchRules::askRegions(const QString& source, const cv::Mat& picture, UnixMs time) {
  const QString own = file(source).chopped(5) + QStringLiteral(".regions.json");
  auto* dialog = new RegionsDialog(sourceTitle(source), regions(source), picture, time,
                                   cameraPlan(source).archiveClock(), window_);
  connect(dialog, &RegionsDialog::chosen, this, [this, source, own](const std::vector<vision::Region>& regions) {
    Known& known = of(source);
    known.camera.plan.regions = regions;
    known.watch.regions = regions.empty() ? "none" : own.toStdString();
    if (!regions.empty() && !known.damaged)
      settings_->run([path = own.toStdString(), regions] {
        program::makeFolder(QFileInfo(QString::fromStdString(path)).path().toStdString());
        vision::writeRegions(path, regions);
      });
    write(source, known.watch);
    emit regionsChanged();
  });
  openDialog(dialog);
}

}  // namespace mpm::gui
