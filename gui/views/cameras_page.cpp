// SPDX-License-Identifier: Apache-2.0
#include "gui/views/cameras_page.h"

#include "gui/views/look.h"

namespace mpm::gui {

CamerasPage::CamerasPage(QWidget* parent) : QListView(parent) {
  named(this, tr("Cameras"));
  setModel(&list_);
  setViewMode(QListView::IconMode);
  setMovement(QListView::Static);
  setResizeMode(QListView::Adjust);
  setEditTriggers(QListView::NoEditTriggers);
  setIconSize(CameraList::kPicture);
  setSpacing(6);
  for (const auto by : {&QListView::clicked, &QListView::activated})
    connect(this, by, this, [this](const QModelIndex& index) { choose(index.row()); });
}

void CamerasPage::open(const QString& file) {
  list_.open(file);
  shown_ = kNone;
  cameras() == 1 ? choose(0) : chooseAll();
}

void CamerasPage::choose(int row) {
  setShown(row);
  emit chosen(list_.watch(row));
}

void CamerasPage::step(int by) { choose((std::max(shown_, by < 0 ? 0 : -1) + by + cameras()) % cameras()); }

void CamerasPage::setShown(int row) {
  if (row == kAll) setCurrentIndex(list_.index(std::max(shown_, 0), 0));
  shown_ = row;
  list_.follow(row == kAll);
  emit shownChanged();
}

}  // namespace mpm::gui
