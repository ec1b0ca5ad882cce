// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/window_memory.h"

namespace mpm::gui {
namespace {

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

WindowMemory::WindowMemory(const QSettings& stored, SettingsWriter* settings, QMainWindow* window,
                           PicturesPane* pictures, ChartPanel* chart, PanelDocks* docks)
    : settings_(settings), window_(window), pictures_(pictures), chart_(chart), docks_(docks) {
  pictures->restore(stored);
  chart->restore(stored);
  if (stored.contains("geometry")) {
    const QSize usual = window->size();
    window->restoreGeometry(stored.value("geometry").toByteArray());
    putBack(window, stored.value("place").toRect(), stored.value("screen").toSize(), usual);
    docks->setLayouts({stored.value("layout").toByteArray(), stored.value("layout_small").toByteArray()});
  }
  timer_.callOnTimeout([this] { write(); });
  timer_.start(2000);
}

void WindowMemory::write() {
  const auto [large, small] = docks_->layouts();
  QVariantMap now = {{"geometry", window_->saveGeometry()},
                     {"place", window_->geometry()},
                     {"screen", window_->screen() ? window_->screen()->availableGeometry().size() : QSize()},
                     {"layout", large},
                     {"layout_small", small}};
  now.insert(pictures_->state());
  now.insert(chart_->state());
  if (now == written_) return;
  written_ = now;
  settings_->change([now](QSettings& settings) {
    for (auto value = now.begin(); value != now.end(); ++value) settings.setValue(value.key(), *value);
  });
}

}  // namespace mpm::gui
