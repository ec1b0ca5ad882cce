// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/panel_docks.h"

#include "gui/views/layouts.h"
#include "gui/views/look.h"

namespace mpm::gui {

PanelDocks::PanelDocks(const std::vector<Panel>& panels, QMainWindow* window, ActionRegistry* actions)
    : QObject(window), window_(window), actions_(actions) {
  window->setDockOptions(QMainWindow::AnimatedDocks | QMainWindow::AllowTabbedDocks | QMainWindow::AllowNestedDocks);
  window->setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
  window->setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
  window->setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);

  for (const Panel& panel : panels) add(panel);
  actions_->separate();
  actions_
      ->add(tr("&Panels"), QStringLiteral("panels"), tr("&Hide or show all panels"), tr("F9"),
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
  dock->setWidget(bottom || legend ? content : scrolled(content));
  // The name is on the tab already.
  if (bottom || (area == Qt::RightDockWidgetArea && !legend)) dock->setTitleBarWidget(new QWidget(dock));
  docks_.append(dock);
  // Not the dock's own action, which hides a panel that stands behind another one. Checked: in front.
  QAction* action = actions_->add(
      tr("&Panels"), QStringLiteral("dock_") + dock->objectName(), title,
      QKeySequence(QString::fromLatin1(docks_.size() > 10 ? "Alt+Shift+%1" : "Alt+%1").arg(docks_.size() % 10)),
      [this, dock] { bringOrHide(dock); });
  action->setCheckable(true);
  connect(dock, &QDockWidget::visibilityChanged, action, &QAction::setChecked);
}

void PanelDocks::bringOrHide(QDockWidget* dock) {
  const QAction* action = actions_->action(QStringLiteral("dock_") + dock->objectName());
  if (!action->isChecked()) return dock->hide();  // it was in front: the key has taken the check mark away
  raise(dock->objectName());
  for (QWidget* widget : dock->findChildren<QWidget*>()) {
    const bool writes = widget->inherits("QLineEdit");  // in which the other keys would be letters
    if (writes || !widget->isEnabled() || (widget->focusPolicy() & Qt::TabFocus) == 0) continue;
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
  large_ = roomy();
  other_ = large_ ? layouts.small : layouts.large;
  window_->restoreState(large_ ? layouts.large : layouts.small);  // none, or damaged: nothing changes
}

void PanelDocks::restore() {
  large_ = roomy();
  other_.clear();
  for (QDockWidget* dock : docks_) {
    dock->setFloating(false);
    window_->removeDockWidget(dock);
  }
  // In the order in which MainWindow makes them.
  QDockWidget *source = docks_[0], *reduction = docks_[1], *legend = docks_[2], *inspector = docks_[3],
              *chart = docks_[7];
  for (QDockWidget* dock : {source, reduction}) window_->addDockWidget(Qt::LeftDockWidgetArea, dock);
  for (QDockWidget* dock : {legend, inspector}) window_->addDockWidget(Qt::RightDockWidgetArea, dock);
  window_->addDockWidget(Qt::BottomDockWidgetArea, chart);
  for (int i = 4; i < 7; ++i) window_->tabifyDockWidget(inspector, docks_[i]);
  for (int i = 8; i < docks_.size(); ++i) window_->tabifyDockWidget(chart, docks_[i]);
  // A 7 inch screen shows the pictures alone; the panels are one key away.
  for (QDockWidget* dock : docks_) dock->setVisible(roomy());
  last_ = QStringLiteral("source");
  inspector->raise();
  chart->raise();
  window_->resizeDocks({source, legend}, {232, 310}, Qt::Horizontal);
  window_->resizeDocks({source, reduction}, {300, 330}, Qt::Vertical);
  window_->resizeDocks({legend, inspector}, {360, 270}, Qt::Vertical);
  window_->resizeDocks({chart}, {230}, Qt::Vertical);
}

void PanelDocks::raise(const QString& id) {
  QDockWidget* dock = *std::ranges::find(docks_, id, &QObject::objectName);
  last_ = id;
  if (!roomy())
    for (QDockWidget* other : docks_)
      if (other != dock) other->hide();
  dock->show();
  dock->raise();
}

void PanelDocks::hideOrShowAll() {
  const bool any = std::any_of(docks_.begin(), docks_.end(), [](const QDockWidget* dock) { return !dock->isHidden(); });
  if (!any && !roomy()) return raise(last_);
  for (QDockWidget* dock : docks_) dock->setVisible(!any);
}

}  // namespace mpm::gui
