// SPDX-License-Identifier: Apache-2.0
#include "gui/views/legend_panel.h"

#include <QColorDialog>
#include <QComboBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QShortcut>
#include <QStackedWidget>
#include <QTableView>
#include <algorithm>

#include "gui/views/depth_scale.h"
#include "gui/views/fields.h"
#include "gui/views/look.h"

namespace mpm::gui {
namespace {

int classAt(const QModelIndex& index) { return index.data(LegendModel::kClassRole).toInt(); }

}  // namespace

LegendPanel::LegendPanel(LegendModel* model, QWidget* parent) : QWidget(parent), model_(model), segments_(model) {
  pages_ = new QStackedWidget;
  for (QWidget* page : {makeClasses(), makeSegments(), static_cast<QWidget*>(depth_ = new DepthScale)})
    pages_->addWidget(page);
  fill(new QVBoxLayout(this), pages_)->setContentsMargins(0, 0, 0, 0);
}

void LegendPanel::setModel(const ModelInfo& model) {
  const bool segments = model.task == Task::kPanoptic || model.task == Task::kInstance;
  pages_->setCurrentIndex(segments ? 1 : model.task == Task::kDepth ? 2 : 0);
}

void LegendPanel::setFrame(const LiveFrame* frame) {
  segments_.setSegments(frame ? frame->result.estimate.segments : std::vector<Segment>(),
                        frame ? frame->ids().total() : 0);
  depth_->setFrame(frame);
}

void LegendPanel::setRegions(const QStringList& names) {
  const QString before = region();
  regions_->clear();
  regions_->addItem(tr("Areas in the whole picture"), QString());
  for (const QString& name : names) regions_->addItem(tr("Areas in %1").arg(name), name);
  regions_->setCurrentIndex(std::max(0, regions_->findData(before)));
  regions_->setVisible(!names.isEmpty());
}

QString LegendPanel::region() const { return regions_->currentData().toString(); }

QWidget* LegendPanel::makeSegments() {
  auto* table = named(new QTableView, tr("Segments"));
  table->setModel(&segments_);
  table->setSelectionMode(QAbstractItemView::NoSelection);
  makePlain(table, 8);
  table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  table->horizontalHeader()->setSectionResizeMode(SegmentsModel::kName, QHeaderView::Stretch);
  auto* page = new QWidget;
  fill(new QVBoxLayout(page), table)->setContentsMargins(8, 8, 8, 8);
  return page;
}

QWidget* LegendPanel::makeClasses() {
  auto* page = new QWidget;
  auto* filter = new LegendFilter(this);
  filter->setSourceModel(model_);
  search_ = named(new QLineEdit(this), tr("Search the classes"));
  search_->setPlaceholderText(tr("Search"));
  search_->setClearButtonEnabled(true);
  auto* all = new QPushButton(tr("All"));
  all->setToolTip(tr("Show every class"));
  auto* none = new QPushButton(tr("None"));
  none->setToolTip(tr("Hide every class"));

  table_ = named(new QTableView(this), tr("Classes"));
  table_->setModel(filter);
  table_->setSortingEnabled(true);
  table_->sortByColumn(LegendModel::kArea, Qt::DescendingOrder);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setContextMenuPolicy(Qt::CustomContextMenu);
  makePlain(table_, 8);
  table_->horizontalHeader()->setSectionResizeMode(LegendModel::kName, QHeaderView::Stretch);
  table_->horizontalHeader()->setSectionResizeMode(LegendModel::kArea, QHeaderView::ResizeToContents);
  table_->setMinimumHeight(90);

  regions_ = choiceField(tr("Where the areas are measured"), {});
  connect(regions_, &QComboBox::activated, this, &LegendPanel::regionPicked);
  setRegions({});

  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(8, 8, 8, 8);
  fill(column, regions_, fill(new QHBoxLayout, search_, all, none), table_);

  connect(search_, &QLineEdit::textChanged, filter, &QSortFilterProxyModel::setFilterFixedString);
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
  connect(model_, &QAbstractItemModel::dataChanged, this, [this, filter, sorted = false, was = 0]() mutable {
    if (was != model_->classes()) sorted = false;
    was = model_->classes();
    if (std::exchange(sorted, true)) return;
    filter->sort(filter->sortColumn(), filter->sortOrder());
  });
  return page;
}

void LegendPanel::editColor(const QModelIndex& index) {
  if (!index.isValid()) return;
  const int chosen = classAt(index);
  auto* dialog = new QColorDialog(model_->color(chosen), this);
  dialog->setWindowTitle(tr("Colour of %1").arg(model_->name(chosen)));
  const QColor before = model_->color(chosen);
  connect(dialog, &QColorDialog::currentColorChanged, this,
          [this, chosen](const QColor& color) { model_->setColor(chosen, color); });
  connect(dialog, &QDialog::accepted, this, [this, chosen] { model_->chooseColor(chosen); });
  connect(dialog, &QDialog::rejected, this, [this, chosen, before] { model_->setColor(chosen, before); });
  // Another model has other classes.
  connect(model_, &QAbstractItemModel::modelAboutToBeReset, dialog, [this, dialog] {
    dialog->disconnect(this);
    dialog->close();
  });
  openDialog(dialog);
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
