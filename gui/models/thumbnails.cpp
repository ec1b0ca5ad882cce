// SPDX-License-Identifier: Apache-2.0
#include "gui/models/thumbnails.h"

namespace mpm::gui {

QImage smallPicture(const QString& file, QSize within) {
  QImageReader reader(file);
  reader.setAutoTransform(true);
  const QSize size = reader.size();
  if (size.width() > within.width() || size.height() > within.height())
    reader.setScaledSize(size.scaled(within, Qt::KeepAspectRatio).expandedTo(QSize(1, 1)));
  return reader.read();
}

Thumbnails::Thumbnails(const QString& folder, QObject* parent)
    : QObject(parent), folder_(folder), thread_(this, {}, QThread::LowPriority) {}

void Thumbnails::setNames(const QStringList& names) {
  const QSet<QString> now(names.begin(), names.end());
  const QSet<QString> fresh = now - std::exchange(known_, now);
  if (fresh.isEmpty()) return;
  thread_.run([this, fresh] {
    for (const QFileInfo& file : QDir(folder_).entryInfoList(QDir::Files)) {
      const QString name = file.completeBaseName();
      if (stop_) return;
      if (!fresh.contains(name)) continue;
      const QImage thumbnail = smallPicture(file.filePath(), kSize);
      thread_.answer([this, name, thumbnail] { emit made(name, thumbnail); });
    }
  });
}

}  // namespace mpm::gui
