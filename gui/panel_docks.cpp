// SPDX-License-Identifier: Apache-2.0
#include "gui/panel_docks.h"

#include <QDockWidget>
#include <QEvent>
#include <QMainWindow>
#include <QScrollArea>
#include <QScrollBar>
#include <algorithm>

#include "gui/action_registry.h"
#include "gui/views/look.h"

namespace mpm::gui {
namespace {

// As wide as what it holds, whatever the language and the font, as far as the pictures keep their room.
class PanelScroll : public QScrollArea {
 public:
  PanelScroll(QWidget* content, QWidget* parent) : QScrollArea(parent) {
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setWidget(content);
    content->installEventFilter(this);
  }
  QSize minimumSizeHint() const override {
    constexpr int kWidest = 290;  // of 1280 px, the pictures need the half
    return {std::min(kWidest, widget()->minimumSizeHint().width() + verticalScrollBar()->sizeHint().width()), 60};
  }

 protected:
  bool eventFilter(QObject* object, QEvent* event) override {
    if (object == widget() && event->type() == QEvent::LayoutRequest) updateGeometry();
    return QScrollArea::eventFilter(object, event);
  }
};

}  // namespace

PanelDocks::PanelDocks(const Panels& panels, QMainWindow* window, ActionRegistry* actions)
    : QObject(window), window_(window), actions_(actions) {
  window->setDockOptions(QMainWindow::AnimatedDocks | QMainWindow::AllowTabbedDocks | QMainWindow::AllowNestedDocks);
  window->setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
  window->setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
  window->setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);

  add(QStringLiteral("source"), tr("Source"), panels.source, Qt::LeftDockWidgetArea);
  add(QStringLiteral("schedule"), tr("Schedule"), panels.schedule, Qt::LeftDockWidgetArea);
  add(QStringLiteral("legend"), tr("Legend"), panels.legend, Qt::RightDockWidgetArea);
  add(QStringLiteral("inspector"), tr("Inspector"), panels.inspector, Qt::RightDockWidgetArea);
  add(QStringLiteral("speed"), tr("Speed"), panels.speed, Qt::RightDockWidgetArea);
  add(QStringLiteral("day_night"), tr("Day/night"), panels.day_night, Qt::RightDockWidgetArea);
  add(QStringLiteral("compare"), tr("Compare"), panels.compare, Qt::RightDockWidgetArea);
  add(QStringLiteral("chart"), tr("Chart"), panels.chart, Qt::BottomDockWidgetArea);
  add(QStringLiteral("events"), tr("Events"), panels.events, Qt::BottomDockWidgetArea);
  add(QStringLiteral("log"), tr("Log"), panels.log, Qt::BottomDockWidgetArea);
  actions_->separate();
  actions_
      ->add(tr("&Panels"), QStringLiteral("panels"), tr("&Hide or show all panels"), tr("F9"),
            [this] { hideOrShowAll(); })
      ->setIcon(icon(Glyph::kLayout));
  restore();
}

PanelDocks::~PanelDocks() { qDeleteAll(docks_); }

void PanelDocks::add(const QString& id, const QString& title, QWidget* content, Qt::DockWidgetArea area) {
  auto* dock = new QDockWidget(title, window_);
  dock->setObjectName(id);
  content->setProperty("panel", true);
  content->setAttribute(Qt::WA_StyledBackground);
  dock->setFeatures(QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable |
                    QDockWidget::DockWidgetFloatable);
  if (area != Qt::BottomDockWidgetArea && id != QLatin1String("legend")) {
    dock->setWidget(new PanelScroll(content, dock));  // a small screen scrolls instead of growing the window
  } else {
    dock->setWidget(content);
  }
  window_->addDockWidget(area, dock);
  // Tabs name these; a title below would say it twice.
  if (area == Qt::BottomDockWidgetArea || (area == Qt::RightDockWidgetArea && id != QLatin1String("legend")))
    dock->setTitleBarWidget(new QWidget(dock));
  docks_.append(dock);
  // Not the dock's own action, which hides a panel that stands behind another one. Checked: in front.
  QAction* action = actions_->add(tr("&Panels"), QStringLiteral("dock_") + id, title,
                                  QKeySequence(QStringLiteral("Alt+%1").arg(docks_.size() % 10)),
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

QDockWidget* PanelDocks::find(const QString& id) const {
  return *std::find_if(docks_.begin(), docks_.end(), [&](const QDockWidget* dock) { return dock->objectName() == id; });
}

void PanelDocks::restore() {
  for (QDockWidget* dock : docks_) {
    dock->setFloating(false);
    window_->removeDockWidget(dock);
  }
  QDockWidget *source = find(QStringLiteral("source")), *schedule = find(QStringLiteral("schedule")),
              *legend = find(QStringLiteral("legend")), *inspector = find(QStringLiteral("inspector")),
              *chart = find(QStringLiteral("chart"));
  window_->addDockWidget(Qt::LeftDockWidgetArea, source);
  window_->addDockWidget(Qt::LeftDockWidgetArea, schedule);
  window_->addDockWidget(Qt::RightDockWidgetArea, legend);
  window_->addDockWidget(Qt::RightDockWidgetArea, inspector);
  for (const char* id : {"speed", "day_night", "compare"})
    window_->tabifyDockWidget(inspector, find(QLatin1String(id)));
  window_->addDockWidget(Qt::BottomDockWidgetArea, chart);
  for (const char* id : {"events", "log"}) window_->tabifyDockWidget(chart, find(QLatin1String(id)));
  // A 7 inch screen shows the pictures; the panels are one key away.
  for (QDockWidget* dock : docks_) dock->setVisible(roomy());
  last_ = QStringLiteral("source");
  inspector->raise();
  chart->raise();
  window_->resizeDocks({source, legend}, {232, 310}, Qt::Horizontal);
  window_->resizeDocks({source, schedule}, {300, 330}, Qt::Vertical);
  window_->resizeDocks({legend, inspector}, {360, 270}, Qt::Vertical);
  window_->resizeDocks({chart}, {230}, Qt::Vertical);
}

void PanelDocks::raise(const QString& id) {
  QDockWidget* dock = find(id);
  last_ = id;
  if (!roomy())
    for (QDockWidget* other : docks_)
      if (other != dock) other->hide();
  dock->show();
  dock->raise();
}

bool PanelDocks::roomy() const { return window_->width() >= 1000 && window_->height() >= 600; }

void PanelDocks::hideOrShowAll() {
  const bool any = std::any_of(docks_.begin(), docks_.end(), [](const QDockWidget* dock) { return !dock->isHidden(); });
  if (!any && !roomy()) return raise(last_);
  for (QDockWidget* dock : docks_) dock->setVisible(!any);
}

}  // namespace mpm::gui
