// SPDX-License-Identifier: Apache-2.0
#include "gui/models/recents.h"

#include "vision/camera_clock.h"

namespace mpm::gui {

using vision::SourceKind;

namespace {

// Version 0.1.0 wrote what the clock of the machine showed: "2026-11-25T07:32:17.203".
UnixMs timeIn(const QJsonValue& last) {
  if (last.isDouble()) return last.toInteger();
  const auto written = vision::readTime(last.toString().toStdString());
  return written ? written->utc(vision::CameraClock::ofMachine()) : 0;
}

}  // namespace

// An object of JSON each: a source, a model, a reduction and a time.
QVector<Recent> loadRecents(const QSettings& settings) {
  QVector<Recent> result;
  for (const QString& line : settings.value("recent").toStringList()) {
    const QJsonDocument one = QJsonDocument::fromJson(line.toUtf8());
    Recent recent{one["source"].toString(), one["model"].toString(), one["reduce"].toString(), timeIn(one["last"])};
    if (!recent.source.isEmpty()) result.append(recent);
  }
  return result;
}

QVector<Recent> remembered(QVector<Recent> recents, Recent recent) {
  recent.source = QString::fromStdString(vision::redactCredentials(recent.source.toStdString()));
  recents.removeIf([&](const Recent& other) { return other.source == recent.source; });
  recents.prepend(recent);
  if (recents.size() > kMaxRecents) recents.resize(kMaxRecents);
  return recents;
}

void saveRecents(QSettings& settings, const QVector<Recent>& recents) {
  QStringList lines;
  for (const Recent& one : recents) {
    const QJsonObject object{
        {"source", one.source}, {"model", one.model}, {"reduce", one.reduce}, {"last", qint64{one.last}}};
    lines << QString::fromUtf8(QJsonDocument(object).toJson(QJsonDocument::Compact));
  }
  settings.setValue("recent", lines);
}

bool isNumbered(const vision::SourceSpec& source) {
  if (source.kind != SourceKind::kDemo) return source.isFolder();
  const QString text = QString::fromStdString(source.target);
  const QUrlQuery options(text.mid(text.indexOf(QLatin1Char('?')) + 1));
  return options.queryItemValue(QStringLiteral("frames")).toLongLong() > 0;
}

QString sourceFolder(const QString& text) {
  const vision::SourceSpec source = sourceSpec(text);
  const QString target = QString::fromStdString(source.target);
  if (source.kind == SourceKind::kFolder) return QFileInfo(target).absoluteFilePath();
  return source.isImages() || source.kind == SourceKind::kVideo ? QFileInfo(target).absolutePath() : QString();
}

QString sourceTitle(const QString& text) {
  const vision::SourceSpec source = sourceSpec(text);
  const QString target = QString::fromStdString(source.target);
  if (source.kind == SourceKind::kDemo) return QCoreApplication::translate("sourceTitle", "Demo street");
  if (source.kind == SourceKind::kCamera) {
    return QCoreApplication::translate("sourceTitle", "Camera %1")
        .arg(source.camera_index < 0 ? QFileInfo(target).fileName() : QString::number(source.camera_index));
  }
  return source.isLive() ? QString::fromStdString(source.shownText()) : QFileInfo(target).fileName();
}

QString cameraTitle(const monitor::CameraConfig& camera) {
  const QString title = QString::fromStdString(camera.title).simplified();  // it stands in one line
  return title.isEmpty() ? QString::fromStdString(monitor::cameraName(camera)) : title;
}

QString demoSource() {
  const QDateTime now = QDateTime::currentDateTimeUtc();
  const QDateTime noon(QDate(now.date().year(), 3, 20), QTime(12, 30), QTimeZone::utc());
  return QStringLiteral("demo:street?start=%1&speed=240&fps=10")
      .arg(noon.toSecsSinceEpoch() + now.toSecsSinceEpoch() % 1800);
}

QString localPath(const QString& text) {
  return text.startsWith(QLatin1String("file:"), Qt::CaseInsensitive) ? QUrl(text).toLocalFile() : text;
}

QVector<CameraDevice> cameras(const QString& root) {
  QVector<CameraDevice> result;
  const QDir devices(root + QStringLiteral("/dev"));
  for (const QString& name : devices.entryList({QStringLiteral("video*")}, QDir::System | QDir::Files, QDir::Name)) {
    const QString base = root + QStringLiteral("/sys/class/video4linux/") + name;
    // One camera has several nodes; the first carries pictures, the others metadata.
    QFile index(base + QStringLiteral("/index"));
    if (index.open(QIODevice::ReadOnly) && index.readAll().trimmed() != "0") continue;
    QFile label(base + QStringLiteral("/name"));
    const QString text = label.open(QIODevice::ReadOnly) ? QString::fromUtf8(label.readAll()).trimmed() : QString();
    result.append({QStringLiteral("/dev/") + name, text.isEmpty() ? name : text});
  }
  return result;
}

QString withCredentials(const QString& address, const QString& user, const QString& password) {
  const auto scheme = address.indexOf(QLatin1String("://"));
  if (user.isEmpty() || scheme < 0) return address;
  QString rest = address.mid(scheme + 3);
  if (rest.startsWith(QLatin1String("***@"))) rest.remove(0, 4);
  const auto encode = [](const QString& text) { return QString::fromLatin1(QUrl::toPercentEncoding(text)); };
  return address.left(scheme + 3) + encode(user) +
         (password.isEmpty() ? QString() : QLatin1Char(':') + encode(password)) + QLatin1Char('@') + rest;
}

}  // namespace mpm::gui
