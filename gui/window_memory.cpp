// SPDX-License-Identifier: Apache-2.0
#include "gui/window_memory.h"

#include <QMainWindow>
#include <QScreen>
#include <QSettings>
#include <algorithm>
#include <utility>

#include "gui/models/settings_writer.h"
#include "gui/views/chart_panel.h"
#include "gui/views/pictures_pane.h"

namespace mpm::gui {
namespace {

// Qt leaves room for a title above a window it restores. Where no window manager puts one there, that is as much below
// the end of the screen.
void moveOntoScreen(QMainWindow* window) {
  if (window->isMaximized() || window->isFullScreen() || !window->screen()) return;
  const QRect screen = window->screen()->availableGeometry();
  QRect place = window->geometry();
  place.moveRight(std::min(place.right(), screen.right()));
  place.moveBottom(std::min(place.bottom(), screen.bottom()));
  place.moveLeft(std::max(place.left(), screen.left()));
  place.moveTop(std::max(place.top(), screen.top()));
  window->move(window->pos() + place.topLeft() - window->geometry().topLeft());
}

}  // namespace

WindowMemory::WindowMemory(const QSettings& stored, SettingsWriter* settings, QMainWindow* window,
                           PicturesPane* pictures, ChartPanel* chart)
    : settings_(settings), window_(window), pictures_(pictures), chart_(chart) {
  pictures->setChoice(loadPicturesChoice(stored));
  chart->setChoice(loadChartChoice(stored));
  if (stored.contains(QStringLiteral("geometry"))) {
    window->restoreGeometry(stored.value(QStringLiteral("geometry")).toByteArray());
    window->restoreState(stored.value(QStringLiteral("layout")).toByteArray());
    moveOntoScreen(window);
  }
  look_.callOnTimeout([this] { write(); });
  look_.start(2000);
}

void WindowMemory::write() {
  const auto keep = [this](const char* key, QByteArray& known, const QByteArray& now) {
    if (std::exchange(known, now) != now) settings_->set(QLatin1String(key), now);
  };
  keep("geometry", geometry_, window_->saveGeometry());
  keep("layout", layout_, window_->saveState());
  const auto keepChoice = [this](auto& known, const auto& now) {
    if (std::exchange(known, now) != now) settings_->change([now](QSettings& settings) { save(settings, now); });
  };
  keepChoice(pictures_choice_, pictures_->choice());
  keepChoice(chart_choice_, chart_->choice());
}

}  // namespace mpm::gui
