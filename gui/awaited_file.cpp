// SPDX-License-Identifier: Apache-2.0
#include "gui/awaited_file.h"

#include <QFileInfo>

namespace mpm::gui {

AwaitedFile::AwaitedFile(QObject* parent) : QObject(parent) {
  timer_.setInterval(2000);
  connect(&timer_, &QTimer::timeout, this, &AwaitedFile::look);
}

void AwaitedFile::await(const QString& path) {
  path_ = path;
  if (path.isEmpty()) return timer_.stop();
  known_ = seen_ = state();
  timer_.start();
}

AwaitedFile::State AwaitedFile::state() const {
  const QFileInfo file(path_);
  return file.exists() ? State({file.lastModified(), file.size()}) : std::nullopt;
}

void AwaitedFile::look() {
  const State now = state();
  const bool settled = std::exchange(seen_, now) == now;
  if (!settled || now == known_) return;
  known_ = now;
  if (now) emit came();
}

}  // namespace mpm::gui
