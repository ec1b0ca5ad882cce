// SPDX-License-Identifier: Apache-2.0
#include "gui/views/legend_panel.h"

#include <QColorDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QShortcut>
#include <QTableView>

#include "gui/views/look.h"

namespace mpm::gui {

LegendPanel::LegendPanel(LegendModel* model, QWidget* parent)
    : QWidget(parent), model_(model), filter_(new LegendFilter(this)) {
  filter_->setSourceModel(model);
  search_ = named(new QLineEdit(this), tr("Search the classes"));
  search_->setPlaceholderText(tr("Search"));
  search_->setClearButtonEnabled(true);
  auto* all = new QPushButton(tr("All"), this);
  all->setToolTip(tr("Show every class"));
  auto* none = new QPushButton(tr("None"), this);
  none->setToolTip(tr("Hide every class"));

  table_ = named(new QTableView(this), tr("Classes"));
  table_->setModel(filter_);
  table_->setSortingEnabled(true);
  table_->sortByColumn(LegendModel::kArea, Qt::DescendingOrder);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setShowGrid(false);
  table_->setTabKeyNavigation(false);
  table_->setContextMenuPolicy(Qt::CustomContextMenu);
  table_->verticalHeader()->hide();
  rowsFollowFont(table_, 8);
  table_->horizontalHeader()->setSectionResizeMode(LegendModel::kName, QHeaderView::Stretch);
  table_->horizontalHeader()->setSectionResizeMode(LegendModel::kArea, QHeaderView::ResizeToContents);
  table_->horizontalHeader()->setHighlightSections(false);
  table_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  table_->setMinimumHeight(90);

  auto* bar = new QHBoxLayout;
  bar->addWidget(search_, 1);
  bar->addWidget(all);
  bar->addWidget(none);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(8, 8, 8, 8);
  column->addLayout(bar);
  column->addWidget(table_, 1);

  connect(search_, &QLineEdit::textChanged, filter_, &QSortFilterProxyModel::setFilterFixedString);
  connect(all, &QPushButton::clicked, model_, [this] { model_->setAllVisible(true); });
  connect(none, &QPushButton::clicked, model_, [this] { model_->setAllVisible(false); });
  connect(table_, &QTableView::doubleClicked, this,
          [this](const QModelIndex& index) { model_->toggleSolo(classAt(index)); });
  connect(table_, &QWidget::customContextMenuRequested, this, &LegendPanel::showMenu);
  for (const auto key : {Qt::Key_Return, Qt::Key_Enter}) {
    auto* edit = new QShortcut(key, table_, this, [this] { editColor(table_->currentIndex()); });
    edit->setContext(Qt::WidgetShortcut);
    auto* solo = new QShortcut(QKeyCombination(Qt::ShiftModifier, key), table_, this, [this] {
      if (table_->currentIndex().isValid()) model_->toggleSolo(classAt(table_->currentIndex()));
    });
    solo->setContext(Qt::WidgetShortcut);
  }
  // The first frame orders the classes by area; later ones would make rows jump under the mouse.
  connect(model_, &QAbstractItemModel::dataChanged, this, [this, sorted = false, was = 0]() mutable {
    if (was != model_->classes()) sorted = false;
    was = model_->classes();
    if (std::exchange(sorted, true)) return;
    filter_->sort(filter_->sortColumn(), filter_->sortOrder());
  });
}

int LegendPanel::classAt(const QModelIndex& index) const { return index.data(LegendModel::kClassRole).toInt(); }

void LegendPanel::editColor(const QModelIndex& index) {
  if (!index.isValid()) return;
  const int chosen = classAt(index);
  // Not exec(): the picture goes on behind it and follows the choice.
  auto* dialog = new QColorDialog(model_->color(chosen), this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr("Colour of %1").arg(model_->name(chosen)));
  const QColor before = model_->color(chosen);
  connect(dialog, &QColorDialog::currentColorChanged, this,
          [this, chosen](const QColor& color) { model_->setColor(chosen, color); });
  connect(dialog, &QDialog::accepted, this, [this, chosen] { model_->chooseColor(chosen); });
  connect(dialog, &QDialog::rejected, this, [this, chosen, before] { model_->setColor(chosen, before); });
  // Another model has other classes: the question is void.
  connect(model_, &QAbstractItemModel::modelAboutToBeReset, dialog, [this, dialog] {
    dialog->disconnect(this);
    dialog->close();
  });
  dialog->open();
}

void LegendPanel::showMenu(const QPoint& at) {
  const QModelIndex index = table_->indexAt(at);
  if (!index.isValid()) return;
  const int chosen = classAt(index);
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->addAction(model_->solo() == chosen ? tr("Show the others again") : tr("Show it alone"), this,
                  [this, chosen] { model_->toggleSolo(chosen); });
  menu->addAction(tr("Change its colour…"), this, [this, index = QPersistentModelIndex(index)] { editColor(index); });
  menu->popup(table_->viewport()->mapToGlobal(at));
}

}  // namespace mpm::gui
