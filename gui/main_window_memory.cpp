// SPDX-License-Identifier: Apache-2.0
// How the window looks, kept between two starts: where it stands, its panels, what pictures and chart show.
#include "gui/main_window.h"

namespace mpm::gui {
namespace {

// Actions whose check marks come back, by their keys in the settings; of the modes one is checked, by ViewMode.
const std::pair<const char*, const char*> kChecked[] = {{"view/map", "merge_map"}, {"view/regions", "region_outlines"}};
const QStringList kModes = {"image", "mask", "overlay", "curtain", "computed"};

// Qt leaves space for a title above a window that it restores: it moves or shrinks the window. Without a window manager
// there is no title.
// A window that filled a small screen has its usual size on a larger one.
void putBack(QMainWindow* window, QRect place, QSize screen_before, QSize usual) {
  if (window->isMaximized() || window->isFullScreen() || !window->screen()) return;
  const QRect screen = window->screen()->availableGeometry();
  if (!place.isValid()) place = window->geometry();  // written by an older version
  const bool filled = place.width() >= screen_before.width() && place.height() >= screen_before.height();
  if (filled && screen_before.isValid() && screen.size() != screen_before)
    place.setSize(place.size().expandedTo(usual));
  place.setSize(place.size().boundedTo(screen.size()));  // it may be another screen
  place.moveRight(std::min(place.right(), screen.right()));
  place.moveBottom(std::min(place.bottom(), screen.bottom()));
  place.moveLeft(std::max(place.left(), screen.left()));
  place.moveTop(std::max(place.top(), screen.top()));
  window->setGeometry(place);
}

}  // namespace

void MainWindow::restoreLook(const QSettings& stored) {
  for (const auto& [key, id] : kChecked) actions_->action(id)->setChecked(stored.value(key, true).toBool());
  const int usual_mode = static_cast<int>(ClassPaint().mode);
  actions_->action(kModes[storedIndex(stored, "view/mode", kModes, usual_mode)])->setChecked(true);
  pane_->restore(stored);
  history_->chartPanel()->restore(stored);
  if (stored.contains("geometry")) {
    const QSize usual = size();
    restoreGeometry(stored.value("geometry").toByteArray());
    putBack(this, stored.value("place").toRect(), stored.value("screen").toSize(), usual);
    docks_->setLayouts({stored.value("layout").toByteArray(), stored.value("layout_small").toByteArray()});
  }
  remember_.callOnTimeout(this, &MainWindow::rememberLook);
  remember_.start(2000);  // a power cut does not announce itself
}

void MainWindow::rememberLook() {
  const auto [large, small] = docks_->layouts();
  QVariantMap now = {{"geometry", saveGeometry()},
                     {"place", geometry()},
                     {"screen", screen() ? screen()->availableGeometry().size() : QSize()},
                     {"layout", large},
                     {"layout_small", small},
                     {"view/mode", kModes[static_cast<int>(pane_->paint().mode)]}};
  for (const auto& [key, id] : kChecked) now.insert(key, actions_->action(id)->isChecked());
  now.insert(pane_->state());
  now.insert(history_->chartPanel()->state());
  if (now == remembered_) return;
  remembered_ = now;
  settings_.change([now](QSettings& settings) {
    for (auto value = now.begin(); value != now.end(); ++value) settings.setValue(value.key(), *value);
  });
}

}  // namespace mpm::gui
