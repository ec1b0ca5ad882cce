// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/folder_view.h"

#include <QAction>
#include <algorithm>

#include "gui/controllers/live_monitor.h"
#include "gui/views/folder_bar.h"

namespace mpm::gui {

FolderView::FolderView(FolderBar* bar, LiveMonitor* live, QAction* pause, QObject* parent)
    : QObject(parent), bar_(bar), live_(live), pause_(pause) {
  connect(bar_, &FolderBar::picked, this, &FolderView::show);
  connect(pause_, &QAction::toggled, this, [this](bool on) {
    if (!on) wanted_.clear();
  });
  connect(&pictures_, &FolderPictures::listed, this, [this] {
    wanted_.clear();
    bar_->setFiles(pictures_.files());
  });
  connect(&pictures_, &FolderPictures::loaded, live_, &LiveMonitor::showPicture);
  connect(&pictures_, &FolderPictures::failed, this, [this](const QString& message) {
    wanted_.clear();
    emit said(message, "bad");
  });
}

void FolderView::follow(const LiveFrame& frame) {
  const QString file = QString::fromStdString(frame.result.frame.file);
  if (!wanted_.isEmpty() && wanted_ != file) return;
  wanted_.clear();
  // They come in this order, so the search is short.
  qsizetype index = files().indexOf(file, std::max(0, bar_->current()));
  if (index < 0) index = files().indexOf(file);
  if (index >= 0) bar_->setCurrent(static_cast<int>(index));
}

void FolderView::step(int by) {
  const int last = static_cast<int>(files().size()) - 1, index = std::clamp(bar_->current() + by, 0, std::max(0, last));
  if (last < 0 || index == bar_->current()) return;
  bar_->setCurrent(index);
  show(index);
}

void FolderView::show(int index) {
  if (live_->session().framesCome()) pause_->setChecked(true);
  wanted_ = files()[index];
  emit chosen();
  pictures_.load(index);
}

}  // namespace mpm::gui
