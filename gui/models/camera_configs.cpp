// SPDX-License-Identifier: Apache-2.0
#include "gui/models/camera_configs.h"

#include <set>

#include "base/atomic_file.h"
#include "base/hash.h"
#include "gui/models/recents.h"
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

// What `after` says otherwise than `before`, `own` says as `after` does: with it all of the same group, as the fields
// of one rule are of no use without each other.
void takeChanges(const CameraConfig& before, const CameraConfig& after, CameraConfig& own) {
  std::set<std::string> changed;
  for (const monitor::CameraField& field : monitor::cameraFields()) {
    std::visit(
        [&](auto member) {
          if (after.*member != before.*member) changed.insert(field.group);
        },
        field.member);
  }
  for (const monitor::CameraField& field : monitor::cameraFields())
    if (changed.contains(field.group)) std::visit([&](auto member) { own.*member = after.*member; }, field.member);
}

}  // namespace

CameraConfigs::CameraConfigs(const QString& folder, SettingsWriter* settings, QObject* parent)
    : QObject(parent), folder_(QFileInfo(folder).absoluteFilePath()), settings_(settings) {}

QString CameraConfigs::file(const QString& source) const {
  const std::string key = keyOf(source).toStdString();  // however the source was written
  const QString end = QStringLiteral("-%1.toml").arg(hashBytes(key), 16, 16, QLatin1Char('0'));
  // Its title is for people, and may have been written in another language.
  const QStringList written = QDir(folder_).entryList({QLatin1Char('*') + end}, QDir::Files, QDir::Time);
  const QString title = sourceTitle(QString::fromStdString(key));
  const QString name = QString::fromStdString(program::fileName(title.toStdString())) + end;
  return folder_ + QLatin1Char('/') + written.value(0, name);
}

CameraConfigs::Known& CameraConfigs::of(const QString& source) {
  const QString key = keyOf(source);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  Known& known = known_[key];
  known.config.source = key.toStdString();
  if (sourceSpec(source).kind != SourceKind::kDemo) known.config.night = "brightness";
  if (const QString path = file(source); QFile::exists(path)) {
    try {
      const monitor::WatchFile read = monitor::readWatchFile(path.toStdString());
      known.config = read.cameras.front().config;
      known.tables = read.tables;
    } catch (const Error& error) {
      known.damaged = true;
      const QString why = tr("%1. Until it is mended, what is chosen counts for this run only");
      QMetaObject::invokeMethod(
          this, [this, text = why.arg(QString::fromUtf8(error.what()))] { emit failed(text); }, Qt::QueuedConnection);
    }
  }
  known.own = known.config;
  interpret(known);
  return known;
}

void CameraConfigs::follow(const CameraConfig& camera) {
  Known& known = of(QString::fromStdString(camera.source));
  known.config = camera;
  known.camera = {};
  known.followed = true;
  for (const monitor::CameraField& field : monitor::cameraFields()) {
    if (field.group == std::string(monitor::kKeepGroup) || field.key == "on-event")
      std::visit([&](auto member) { known.config.*member = {}; }, field.member);
  }
  interpret(known);
}

// A field that makes no sense, or whose file is gone, does not count, and this is said. If that field is `hide`, the
// whole picture is blurred, as for each class that the model lacks: no model has a class "*".
void CameraConfigs::interpret(Known& known) {
  CameraConfig usable = known.config;
  const auto regions = known.camera.plan.regions;  // their file may be on its way to the disk
  if (regions) usable.regions.clear();
  if (usable.times.empty()) usable.times = "none";  // nobody was asked yet
  while (true) {
    try {
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
}

void CameraConfigs::write(const QString& source, const CameraConfig& config) {
  of(source).own = config;
  writeOwn(source);
}

void CameraConfigs::writeOwn(const QString& source) {
  const Known& known = of(source);
  if (known.damaged) return;
  settings_->run([path = file(source).toStdString(), text = monitor::watchText({known.own}, known.tables)] {
    program::makeFolder(QFileInfo(QString::fromStdString(path)).path().toStdString());
    writeFileAtomically(path, text, true);
  });
}

void CameraConfigs::change(const QString& source, const CameraConfig& config) {
  Known& known = of(source);
  if (known.config == config && config.states.empty()) return;  // a file of states may have changed
  const auto night = known.camera.plan.night;
  const auto clock = known.camera.plan.archiveClock();
  takeChanges(known.config, config, known.own);
  known.config = config;
  interpret(known);
  writeOwn(source);
  const bool other_night = known.camera.plan.night != night && known.camera.plan.archiveClock() == clock;
  emit changed(source);
  if (other_night) emit nightChanged(source);
}

const std::vector<vision::Region>& CameraConfigs::regions(const QString& source) {
  static const std::vector<vision::Region> none;
  const auto& regions = of(source).camera.plan.regions;
  return regions ? *regions : none;
}

void CameraConfigs::setRegions(const QString& source, const std::vector<vision::Region>& regions) {
  if (this->regions(source) == regions) return;
  const QString own = file(source).chopped(5) + QStringLiteral(".regions.json");
  Known& known = of(source);
  known.camera.plan.regions = regions;
  known.own.regions = known.config.regions = regions.empty() ? "none" : own.toStdString();
  if (!regions.empty() && !known.damaged) {
    settings_->run([path = own.toStdString(), regions] {
      program::makeFolder(QFileInfo(QString::fromStdString(path)).path().toStdString());
      vision::writeRegions(path, regions);
    });
  }
  writeOwn(source);
  emit regionsChanged();
}

void CameraConfigs::propose(const QString& source, const std::vector<vision::Region>& regions) {
  auto& known = of(source).camera.plan.regions;
  if (regions.empty() || known) return;
  known = regions;
  emit proposed();
}

QStringList CameraConfigs::states(const QString& source) {
  QStringList names;
  for (const evaluation::StateHead& head : of(source).camera.plan.states.heads)
    names << QString::fromStdString(head.name);
  return names;
}

void CameraConfigs::useStates(const QString& source, const evaluation::StateHead& head, const QString& file, bool use) {
  CameraConfig config = of(source).config;
  // As seen from the file of the source, a relative path would be another one.
  const std::string own = QFileInfo(file).absoluteFilePath().toStdString();
  std::erase_if(config.states, [&](const std::string& path) {
    try {
      return path == own || evaluation::readStates(path).name == head.name;
    } catch (const Error&) {  // it is gone
      return true;
    }
  });
  if (use) config.states.push_back(own);
  change(source, config);
  emit statesChanged(source);
}

// A folder is looked through, not played, and a live picture is shown between samples.
monitor::Camera CameraConfigs::camera(const QString& source) {
  const Known& known = of(source);
  monitor::Camera camera = known.camera;
  monitor::CameraPlan& options = camera.plan;
  options.source = sourceSpec(source);
  options.every_frame = isNumbered(options.source);
  options.samples_only = options.resume_demo = false;
  options.every_s = known.config.every.value_or(options.every_frame ? 0 : 1);
  options.max_fps = options.source.isFolder() ? 4 : options.source.kind == SourceKind::kDemo ? 10 : 25;
  if (options.archive) {
    options.archive->show_last = true;
    options.max_fps = 0;
  }
  return camera;
}

monitor::SnapshotOptions CameraConfigs::snapshotOptions(const QString& source, const QString& pictures) {
  constexpr double kReserveMb = 200;
  monitor::SnapshotOptions options = of(source).camera.session.snapshots;
  options.folder = pictures.toStdString();
  options.reserve_megabytes = kReserveMb;
  options.every_minutes = of(source).config.snapshot_every;  // else none but those that are asked for
  return options;
}

bool CameraConfigs::knowsTimes(const QString& source) {
  return !sourceSpec(source).isFolder() || !of(source).config.times.empty();
}

}  // namespace mpm::gui
