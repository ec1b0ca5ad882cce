// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>

#include "monitor/watch/camera_config.h"
#include "vision/sources/source_spec.h"
#include "vision/time.h"

namespace mpm::gui {

/// A source that was watched before.
struct Recent {
  QString source;  ///< without credentials: they are never kept
  QString model;
  QString reduce;   ///< a Reduction as text
  UnixMs last = 0;  ///< when it was opened; 0: not known
  bool needsPassword() const { return source.contains(QLatin1String("***")); }
  friend bool operator==(const Recent&, const Recent&) = default;
};

inline constexpr int kMaxRecents = 8;
QVector<Recent> loadRecents(const QSettings& settings);
void saveRecents(QSettings& settings, const QVector<Recent>& recents);
/// With `recent` in front, without its credentials; one entry per source.
QVector<Recent> remembered(QVector<Recent> recents, Recent recent);

inline vision::SourceSpec sourceSpec(const QString& source) { return vision::parseSourceSpec(source.toStdString()); }
/// True for a folder, a glob, and a demo of a given number of frames: a number of pictures, of which none may be
/// dropped. A camera, in contrast, goes on while the model works.
bool isNumbered(const vision::SourceSpec& source);
/// The folder that the files of a source are in; empty: it has none.
QString sourceFolder(const QString& source);
/// "Demo street", "vtest.avi", "rtsp://***@camera/stream".
QString sourceTitle(const QString& source);
/// How people call a camera of a watch file: its title, else its name.
QString cameraTitle(const monitor::CameraConfig& camera);

/// The built-in street: a day in six minutes from a spring noon on, so that its dusk comes soon. Every call names a
/// moment of its own, because what is stored of two runs must not be mixed.
QString demoSource();

/// The path of a URL as file managers hand it over, file:///a%20b; anything else as it is.
QString localPath(const QString& text);

struct CameraDevice {
  QString path;  ///< /dev/video0
  QString name;  ///< as its driver calls it
};
/// The cameras of this machine. `root`: where dev/ and sys/ are, for tests.
QVector<CameraDevice> cameras(const QString& root = QStringLiteral("/"));

/// `address` with user and password put in; both percent-encoded. Empty user: `address` as it is.
QString withCredentials(const QString& address, const QString& user, const QString& password);

}  // namespace mpm::gui
