// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/window_look.h"

#include "gui/views/look.h"

namespace mpm::gui {
namespace {

// Actions whose check marks come back where a window has them, by their keys in the settings; of the modes one is
// checked, by ViewMode.
const std::pair<const char*, const char*> kChecked[] = {{"view/map", "merge_map"}, {"view/regions", "region_outlines"}};
const QStringList kModes = {"image", "mask", "overlay", "curtain", "computed"};

// Qt leaves space for a title above a window that it restores: it moves or shrinks the window. Without a window manager
// there is no title. A window that filled a small screen has its usual size on a larger one.
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

WindowLook::WindowLook(QMainWindow* window, ActionRegistry* actions, PanelDocks* docks,
                       std::vector<RememberedPart> parts, SettingsWriter* settings, const QString& group)
    : QObject(window),
      window_(window),
      actions_(actions),
      docks_(docks),
      parts_(std::move(parts)),
      settings_(settings),
      group_(group) {
  timer_.callOnTimeout(this, &WindowLook::remember);
  addActions();
  window_->installEventFilter(this);
}

void WindowLook::addActions() {
  using Menu = ActionRegistry::Menu;
  actions_->separate();
  actions_->addToggle(Menu::kView, "dark", tr("Dar&k"), tr("T"), theme().dark, [this](bool on) { setDark(on); });
  actions_->add(Menu::kView, "larger", tr("&Larger text"), tr("Ctrl++"), [this] { setFont(lookPercent() + 10); });
  actions_->add(Menu::kView, "smaller", tr("&Smaller text"), tr("Ctrl+-"), [this] { setFont(lookPercent() - 10); });
  actions_->addToggle(Menu::kView, "fullscreen", tr("&Full screen"), tr("F11"), false, [this](bool on) {
    window_->setWindowState(window_->windowState().setFlag(Qt::WindowFullScreen, on));
  });
  actions_->separate();
  actions_->add(Menu::kView, "layout", tr("&Restore the default layout"), tr("Ctrl+L"), [this] { reset(); });
}

// Another window may have changed the colours; the desktop may make the window full-screen, and it opens as it was
// closed.
bool WindowLook::eventFilter(QObject* watched, QEvent* event) {
  const auto check = [this](const char* id, bool on) {
    QAction* action = actions_->action(id);
    const QSignalBlocker quiet(action);
    action->setChecked(on);
  };
  if (event->type() == QEvent::StyleChange) check("dark", theme().dark);
  if (event->type() == QEvent::WindowStateChange) check("fullscreen", window_->isFullScreen());
  return QObject::eventFilter(watched, event);
}

void WindowLook::restore() {
  const auto read = settings_->read();
  QSettings& stored = *read;
  if (!group_.isEmpty()) stored.beginGroup(group_);
  for (const auto& [key, id] : kChecked)
    if (QAction* action = actions_->action(id)) action->setChecked(stored.value(key, true).toBool());
  const int usual_mode = static_cast<int>(ClassPaint().mode);
  actions_->action(kModes[storedIndex(stored, "view/mode", kModes, usual_mode)])->setChecked(true);
  for (const RememberedPart& part : parts_) part.restore(stored);
  if (stored.contains("geometry")) {
    const QSize usual = window_->size();
    window_->restoreGeometry(stored.value("geometry").toByteArray());
    putBack(window_, stored.value("place").toRect(), stored.value("screen").toSize(), usual);
    docks_->setLayouts({stored.value("layout").toByteArray(), stored.value("layout_small").toByteArray()});
  }
  timer_.start(2000);  // a power cut does not announce itself
}

void WindowLook::remember() {
  if (!layout_.isEmpty()) return;  // the panels come back
  const auto [large, small] = docks_->layouts();
  const QScreen* const screen = window_->screen();
  QVariantMap now = {{"geometry", window_->saveGeometry()},
                     {"place", window_->geometry()},
                     {"screen", screen ? screen->availableGeometry().size() : QSize()},
                     {"layout", large},
                     {"layout_small", small}};
  for (const QString& mode : kModes)
    if (actions_->action(mode)->isChecked()) now.insert("view/mode", mode);
  for (const auto& [key, id] : kChecked)
    if (const QAction* action = actions_->action(id)) now.insert(key, action->isChecked());
  for (const RememberedPart& part : parts_) now.insert(part.state());
  if (now == remembered_) return;
  remembered_ = now;
  settings_->change([now, before = group_.isEmpty() ? QString() : group_ + QLatin1Char('/')](QSettings& settings) {
    for (auto value = now.begin(); value != now.end(); ++value) settings.setValue(before + value.key(), *value);
  });
}

void WindowLook::reset() {
  docks_->restore();
  emit layoutReset();
}

void WindowLook::setDark(bool dark) {
  applyLook(dark ? darkTheme() : lightTheme(), lookPercent());
  settings_->set(QStringLiteral("dark"), dark);
}

void WindowLook::setFont(int percent) {
  const int bounded = std::clamp(percent, 70, 220);
  settings_->set(QStringLiteral("font"), bounded);
  applyLook(theme(), bounded);
}

void WindowLook::setPanelsAside(bool aside) {
  if (aside == !layout_.isEmpty()) return;
  if (aside) {
    layout_ = window_->saveState();
    for (QDockWidget* dock : docks_->docks()) dock->hide();
  } else {
    window_->restoreState(std::exchange(layout_, {}));
    docks_->fit();
  }
}

void WindowLook::fit() {
  if (layout_.isEmpty()) docks_->fit();
}

}  // namespace mpm::gui
