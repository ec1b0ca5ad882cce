// SPDX-License-Identifier: Apache-2.0
#include "gui/action_registry.h"

#include <QDialog>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLabel>
#include <QMenuBar>
#include <QTableWidget>
#include <QVBoxLayout>

#include "gui/views/look.h"

namespace mpm::gui {

ActionRegistry::ActionRegistry(QWidget* window) : QObject(window), window_(window) {}

void ActionRegistry::enter(const QString& menu, const QString& id, QAction* action, const QKeySequence& key) {
  action->setObjectName(id);
  action->setShortcut(key);
  action->setToolTip(
      QStringLiteral("%1 (%2)").arg(action->text().remove(QLatin1Char('&')), key.toString(QKeySequence::NativeText)));
  window_->addAction(action);  // keys work with the menu bar hidden
  entries_.push_back({menu, action, std::exchange(separate_, false)});
}

QAction* ActionRegistry::add(const QString& menu, const QString& id, const QString& text, const QKeySequence& key,
                             std::function<void()> run) {
  auto* action = new QAction(text, this);
  enter(menu, id, action, key);
  connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
  return action;
}

QAction* ActionRegistry::addToggle(const QString& menu, const QString& id, const QString& text, const QKeySequence& key,
                                   bool on, std::function<void(bool)> run) {
  auto* action = new QAction(text, this);
  enter(menu, id, action, key);
  action->setCheckable(true);
  action->setIconVisibleInMenu(false);  // a mark stands there
  action->setChecked(on);
  connect(action, &QAction::toggled, this, std::move(run));
  return action;
}

QAction* ActionRegistry::action(const QString& id) const {
  for (const Entry& entry : entries_)
    if (entry.action->objectName() == id) return entry.action;
  return nullptr;
}

void ActionRegistry::fill(QMenuBar* bar) const {
  QMenu* menu = nullptr;
  for (const Entry& entry : entries_) {
    menu = nullptr;
    for (QAction* existing : bar->actions())
      if (existing->text() == entry.menu) menu = existing->menu();
    if (!menu) menu = bar->addMenu(entry.menu);
    if (entry.separated) menu->addSeparator();
    menu->addAction(entry.action);
  }
}

QDialog* ActionRegistry::showHelp(QWidget* parent) const {
  auto* dialog = new QDialog(parent);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setObjectName(QStringLiteral("keys"));
  dialog->setWindowTitle(tr("Keys"));
  struct Row {
    QString key, what;
  };
  std::vector<Row> rows;
  for (const Entry& entry : entries_)
    rows.push_back(
        {entry.action->shortcut().toString(QKeySequence::NativeText), entry.action->text().remove(QLatin1Char('&'))});
  const Row more[] = {{tr("Arrow keys"), tr("In a picture: move the patch cursor")},
                      {tr("Space"), tr("In a picture: pin the patch")},
                      {tr("+  −  0"), tr("In a picture or the chart: zoom in, out, all of it")},
                      {tr("Wheel, drag"), tr("Zoom, move")},
                      {tr("Double click"), tr("In the legend: show one class alone")},
                      {tr("Shift+Enter"), tr("In the legend: show the current class alone")},
                      {tr("Enter"), tr("In the legend: change a colour; in the events: go to that time")}};
  rows.insert(rows.end(), std::begin(more), std::end(more));
  auto* table = named(new QTableWidget(static_cast<int>(rows.size()), 2, dialog), tr("Keys"));
  table->setHorizontalHeaderLabels({tr("Key"), tr("What it does")});
  table->verticalHeader()->hide();
  rowsFollowFont(table, 8);
  table->setShowGrid(false);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->horizontalHeader()->setStretchLastSection(true);
  table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
  table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
    table->setItem(i, 0, new QTableWidgetItem(rows[i].key));
    table->setItem(i, 1, new QTableWidgetItem(rows[i].what));
  }
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
  QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::close);
  auto* column = new QVBoxLayout(dialog);
  column->addWidget(table);
  column->addWidget(buttons);
  fitToWindow(dialog, QSize(520, 560));
  dialog->show();
  return dialog;
}

}  // namespace mpm::gui
