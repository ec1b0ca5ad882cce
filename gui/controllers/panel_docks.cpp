// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/panel_docks.h"

#include "gui/views/layouts.h"
#include "gui/views/look.h"

namespace mpm::gui {
namespace {

// A panel has the same key in each window, also in one that lacks those before it.
QKeySequence keyOf(const char* id) {
  constexpr const char* kInTurn[] = {"source",  "schedule", "legend", "inspector", "speed",   "day_night",
                                     "compare", "chart",    "events", "log",       "calendar"};
  const auto* const found = std::ranges::find(kInTurn, std::string_view(id));
  const auto number = found - std::begin(kInTurn) + 1;
  return QKeySequence(QString::fromLatin1(number > 10 ? "Alt+Shift+%1" : "Alt+%1").arg(number % 10));
}

}  // namespace

PanelDocks::PanelDocks(const std::vector<Panel>& panels, QMainWindow* window, ActionRegistry* actions)
    : QObject(window), window_(window), actions_(actions) {
  window->setDockOptions(QMainWindow::AnimatedDocks | QMainWindow::AllowTabbedDocks | QMainWindow::AllowNestedDocks);
  window->setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
  window->setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
  window->setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);

  for (const Panel& panel : panels) add(panel);
  actions_->separate();
  actions_
      ->add(ActionRegistry::Menu::kPanels, QStringLiteral("panels"), tr("&Hide or show all panels"), tr("F9"),
            [this] { hideOrShowAll(); })
      ->setIcon(icon("layout"));
  restore();
}

void PanelDocks::add(const Panel& panel) {
  const auto& [id, title, content, area] = panel;
  auto* dock = new QDockWidget(title, window_);
  dock->setObjectName(QLatin1String(id));
  content->setProperty("panel", true);
  content->setAttribute(Qt::WA_StyledBackground);
  const bool legend = dock->objectName() == QLatin1String("legend"), bottom = area == Qt::BottomDockWidgetArea;
  // On a small screen a panel scrolls instead of making the window larger.
  dock->setWidget(bottom || legend ? content : scrolled(content, tr("Scroll bar of %1").arg(title)));
  // The name is on the tab already. At the right side, few panels may be left: see showTitles().
  if (bottom || (area == Qt::RightDockWidgetArea && !legend)) dock->setTitleBarWidget(new QWidget(dock));
  docks_.append(dock);
  areas_[area].append(dock);
  // Not the dock's own action, which hides a panel that stands behind another one. Checked: in front.
  QAction* action = actions_->add(ActionRegistry::Menu::kPanels, QStringLiteral("dock_") + dock->objectName(), title,
                                  keyOf(id), [this, dock] { bringOrHide(dock); });
  action->setCheckable(true);
  connect(dock, &QDockWidget::visibilityChanged, action, &QAction::setChecked);
  connect(dock, &QDockWidget::visibilityChanged, this, &PanelDocks::showTitles, Qt::QueuedConnection);
}

// A panel at the right side has a title where it is alone in its place: no tab says its name then.
void PanelDocks::showTitles() {
  for (QDockWidget* dock : areas_[Qt::RightDockWidgetArea]) {
    if (dock->objectName() == QLatin1String("legend")) continue;
    const QList<QDockWidget*> beside = window_->tabifiedDockWidgets(dock);
    const bool on_tab = std::ranges::any_of(beside, [](const QDockWidget* other) { return !other->isHidden(); });
    QWidget* const before = dock->titleBarWidget();
    if (on_tab == (before != nullptr)) continue;
    dock->setTitleBarWidget(on_tab ? new QWidget(dock) : nullptr);
    delete before;
  }
}

// Qt moves panels that stand behind another one, and the tabs of panels that are hidden, beyond the edge of the window.
// The focus goes there all the same.
bool PanelDocks::moveFocus(const std::function<bool()>& step) const {
  const auto unseen = [this](const QWidget* widget) {
    while (widget && widget->parentWidget() != window_) widget = widget->parentWidget();
    return widget && !widget->geometry().intersects(window_->rect());
  };
  const QWidget* first = nullptr;  // once round all of them is enough
  while (step()) {
    const QWidget* const now = window_->focusWidget();
    if (now == first || !unseen(now)) return true;
    if (!first) first = now;
  }
  return false;
}

void PanelDocks::bringOrHide(QDockWidget* dock) {
  const QAction* action = actions_->action(QStringLiteral("dock_") + dock->objectName());
  if (!action->isChecked()) return dock->hide();  // it was in front: the key has taken the check mark away
  raise(dock->objectName());
  for (QWidget* widget : dock->findChildren<QWidget*>()) {
    const bool writes = widget->inherits("QLineEdit");  // in which the other keys would be letters
    if (writes || widget->inherits("QScrollBar")) continue;
    if (!widget->isEnabled() || (widget->focusPolicy() & Qt::TabFocus) == 0) continue;
    return widget->setFocus(Qt::ShortcutFocusReason);
  }
}

void PanelDocks::fit() {
  if (large_ == roomy()) return;
  const QByteArray now = window_->saveState(), next = other_;
  restore();
  if (!next.isEmpty()) window_->restoreState(next);
  other_ = now;
}

PanelDocks::Layouts PanelDocks::layouts() const {
  const QByteArray now = window_->saveState();
  return large_ ? Layouts{now, other_} : Layouts{other_, now};
}

void PanelDocks::setLayouts(const Layouts& layouts) {
  restore();  // what is shown if the stored layout is empty or damaged
  other_ = large_ ? layouts.small : layouts.large;
  window_->restoreState(large_ ? layouts.large : layouts.small);
}

void PanelDocks::restore() {
  large_ = roomy();
  other_.clear();
  for (QDockWidget* dock : docks_) {
    dock->setFloating(false);
    window_->removeDockWidget(dock);
  }
  constexpr int kStacked = 2;  // at the sides: the others stand behind the last of them
  for (const auto& [area, docks] : areas_) {
    const bool bottom = area == Qt::BottomDockWidgetArea;
    const qsizetype seen = std::min<qsizetype>(bottom ? 1 : kStacked, docks.size());
    for (qsizetype i = 0; i < seen; ++i) window_->addDockWidget(area, docks[i]);
    for (qsizetype i = seen; i < docks.size(); ++i) window_->tabifyDockWidget(docks[seen - 1], docks[i]);
  }
  // A 7 inch screen shows the pictures alone; the panels are one key away.
  for (QDockWidget* dock : docks_) dock->setVisible(roomy());
  last_ = docks_.front()->objectName();
  for (const auto& [area, docks] : areas_) {
    const bool bottom = area == Qt::BottomDockWidgetArea, left = area == Qt::LeftDockWidgetArea;
    const qsizetype seen = std::min<qsizetype>(bottom ? 1 : kStacked, docks.size());
    if (docks.size() > seen) docks[seen - 1]->raise();
    if (bottom) {
      window_->resizeDocks({docks[0]}, {290}, Qt::Vertical);
      continue;
    }
    window_->resizeDocks({docks[0]}, {left ? 232 : 310}, Qt::Horizontal);
    if (seen == kStacked)
      window_->resizeDocks({docks[0], docks[1]}, left ? QList{300, 330} : QList{360, 270}, Qt::Vertical);
  }
  showTitles();
}

void PanelDocks::raise(const QString& id) {
  QDockWidget* dock = *std::ranges::find(docks_, id, &QObject::objectName);
  last_ = id;
  if (!roomy()) {
    for (QDockWidget* other : docks_)
      if (other != dock) other->hide();
  }
  dock->show();
  dock->raise();
}

void PanelDocks::hideOrShowAll() {
  const bool any = std::any_of(docks_.begin(), docks_.end(), [](const QDockWidget* dock) { return !dock->isHidden(); });
  if (!any && !roomy()) return raise(last_);
  for (QDockWidget* dock : docks_) dock->setVisible(!any);
}

}  // namespace mpm::gui
