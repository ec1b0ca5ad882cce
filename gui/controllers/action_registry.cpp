// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/action_registry.h"

#include "gui/views/layouts.h"
#include "gui/views/look.h"
#include "gui/views/tables.h"
#include "mpm/build_info.hpp"

namespace mpm::gui {
namespace {

QString toolTipOf(const QAction* action) {
  return QStringLiteral("%1 (%2)").arg(action->text().remove(QLatin1Char('&')),
                                       action->shortcut().toString(QKeySequence::NativeText));
}

}  // namespace

ActionRegistry::ActionRegistry(QMainWindow* window) : QObject(window), window_(window) {
  for (const QString& title : {tr("&File"), tr("&View"), tr("&Watch"), tr("&Panels"), tr("&Help")}) {
    menus_.push_back(window->menuBar()->addMenu(title));
    menus_.back()->menuAction()->setVisible(false);
  }
}

QAction* ActionRegistry::enter(Menu menu, const QString& id, const QString& text, const QKeySequence& key) {
  auto* action = new QAction(text, this);
  action->setObjectName(id);
  action->setShortcut(key);
  static const QRegularExpression of_what(QStringLiteral("(?<=^next|^previous)_.*"));
  action->setIcon(icon(QString(id).remove(of_what)));
  action->setToolTip(toolTipOf(action));
  window_->addAction(action);  // keys work with the menu bar hidden
  QMenu* const in = menus_[static_cast<std::size_t>(menu)];
  in->menuAction()->setVisible(true);
  if (std::exchange(separate_, false)) in->addSeparator();
  in->addAction(action);
  return action;
}

QAction* ActionRegistry::add(Menu menu, const QString& id, const QString& text, const QKeySequence& key,
                             std::function<void()> run) {
  QAction* action = enter(menu, id, text, key);
  connect(action, &QAction::triggered, this, std::move(run));
  return action;
}

QAction* ActionRegistry::addToggle(Menu menu, const QString& id, const QString& text, const QKeySequence& key, bool on,
                                   std::function<void(bool)> run) {
  QAction* action = enter(menu, id, text, key);
  action->setCheckable(true);
  action->setIconVisibleInMenu(false);  // a mark stands there
  action->setChecked(on);
  connect(action, &QAction::toggled, this, std::move(run));
  return action;
}

void ActionRegistry::setPossible(const QString& id, const QString& reason) const {
  QAction* const one = action(id);
  one->setEnabled(reason.isEmpty());
  one->setToolTip(reason.isEmpty() ? toolTipOf(one) : QStringLiteral("%1: %2").arg(toolTipOf(one), reason));
}

QDialog* ActionRegistry::showHelp(QWidget* parent) const {
  auto* dialog = new QDialog(parent);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setObjectName(QStringLiteral("keys"));
  dialog->setWindowTitle(tr("Keys"));
  QList<std::pair<QString, QString>> rows;  // a group has no key
  for (const QAction* menu : window_->menuBar()->actions()) {
    if (!menu->isVisible()) continue;
    rows.append({{}, menu->text()});
    for (const QAction* action : menu->menu()->actions())
      if (action->isVisible() && !action->isSeparator()) rows.append({keyOf(action->objectName()), action->text()});
  }
  rows += {{{}, tr("In a picture or the chart")},
           {tr("Arrow keys"), tr("Move the patch cursor")},
           {tr("Space"), tr("Pin the patch")},
           {tr("+  −  0"), tr("Zoom in, out, all of it")},
           {tr("Wheel, drag"), tr("Zoom, move")},
           {{}, tr("In a list")},
           {tr("Double click"), tr("Legend: show one class alone")},
           {tr("Shift+Enter"), tr("Legend: show the current class alone")},
           {tr("Enter"), tr("Legend: change a colour; events: go to that time")},
           {tr("Enter, Delete"), tr("Labels: go to their picture, remove them")},
           {{}, tr("Teaching")},
           {QStringLiteral("1 … 9"), tr("Choose a class")},
           {QStringLiteral("F  B  G  E  V  H"), tr("Cluster, brush, polygon, eraser, accept, move")},
           {QStringLiteral(",  ."), tr("Smaller, larger brush")},
           {QStringLiteral("Q"), tr("Show where the model is not sure")},
           {tr("Space, Enter"), tr("Draw at the cross of the arrow keys; close the polygon")},
           {tr("Ctrl+Z, Ctrl+Shift+Z"), tr("Undo, redo")},
           {tr("Page up, page down"), tr("Previous, next picture")},
           {{}, tr("Drawing regions")},
           {tr("Arrow keys, Shift"), tr("Move the cross; by one pixel")},
           {tr("Space, Enter"), tr("Set or grab a corner; close the polygon")},
           {tr("Backspace, Esc"), tr("Take a corner back; drop the polygon")}};
  QTableWidget* table = plainTable(tr("Keys"), {tr("Key"), tr("What it does")}, 8);
  table->setRowCount(static_cast<int>(rows.size()));
  table->horizontalHeader()->setStretchLastSection(true);
  table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
  QFont bold = table->font();
  bold.setBold(true);
  for (int i = 0; i < table->rowCount(); ++i) {
    auto [key, text] = rows[i];
    text.remove(QLatin1Char('&'));
    setRow(table, i, key.isEmpty() ? QStringList{text} : QStringList{key, text}, 2);
    if (!key.isEmpty()) continue;
    table->item(i, 0)->setFont(bold);
    table->item(i, 0)->setFlags(Qt::ItemIsEnabled);
    table->setSpan(i, 0, 1, 2);
  }
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::close);
  fill(new QVBoxLayout(dialog), table, buttons);
  constexpr int kBeside = 60;  // px: the scroll bar and the margins
  const QAbstractItemView* const lines = table;
  fitToWindow(dialog, QSize(std::max(520, lines->sizeHintForColumn(0) + lines->sizeHintForColumn(1) + kBeside), 560));
  dialog->show();
  return dialog;
}

void ActionRegistry::showAbout(QWidget* parent) {
  const BuildInfo build = buildInfo();
  auto* about = new QMessageBox(
      QMessageBox::NoIcon, tr("About MPM Monitor"),
      tr("<b>MPM Monitor %1</b><p>Live segmentation, merge maps and day/night token counts for a camera on a fixed "
         "scene.</p><p>Method: Mutual Pair Merging for Efficient Vision Transformers, CVPR 2026.</p>"
         "<p>OpenCV %2, Qt %3, %4</p><p>Apache License 2.0</p>")
          .arg(QString::fromStdString(build.version), QString::fromStdString(build.opencv),
               QString::fromLatin1(qVersion()), QString::fromStdString(build.instruction_set)),
      QMessageBox::Close, parent);
  about->setTextFormat(Qt::RichText);
  openDialog(about);
}

}  // namespace mpm::gui
