// SPDX-License-Identifier: Apache-2.0
#include "gui/views/central_pages.h"

#include "gui/views/layouts.h"

namespace mpm::gui {

CentralPages::CentralPages(QAction* demo, PicturesPane* pictures, FolderBar* folder, QWidget* parent)
    : QStackedWidget(parent),
      welcome_(new WelcomePage(demo, this)),
      cameras_(new CamerasPage(this)),
      pictures_(new QWidget) {
  fill(seamless(new QVBoxLayout(pictures_)), stretched(pictures), folder);
  for (QWidget* page : QWidgetList{welcome_, cameras_, pictures_}) addWidget(page);
}

TeachPane* CentralPages::teach() {
  if (!teach_) {
    teach_ = new TeachPane;
    addWidget(teach_);
  }
  return teach_;
}

void CentralPages::showTeach() {
  setCurrentWidget(teach());
  teach()->canvas()->setFocus();
}

void CentralPages::showSource(bool one) {
  setCurrentWidget(cameras_->allShown() ? static_cast<QWidget*>(cameras_) : one ? pictures_ : welcome_);
  if (cameras_->allShown()) cameras_->setFocus();
}

}  // namespace mpm::gui
