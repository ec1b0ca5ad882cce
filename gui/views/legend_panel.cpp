// SPDX-License-Identifier: Apache-2.0
#include "gui/views/legend_panel.h"

#include "gui/models/readout.h"
#include "gui/views/fields.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"
#include "gui/views/look.h"
#include "gui/views/tables.h"
#include "vision/labels/classes.h"
#include "vision/pictures/pictures.h"

namespace mpm::gui {
namespace {

int classAt(const QModelIndex& index) { return index.data(LegendModel::kClassRole).toInt(); }

}  // namespace

LegendPanel::LegendPanel(LegendModel* model, QWidget* parent)
    : QWidget(parent),
      model_(model),
      table_(named(new QTableView(this), tr("Classes"))),
      regions_(choiceField(tr("Where the areas are measured"), {})),
      segment_table_(plainTable(tr("Segments"), {tr("Segment"), tr("Score"), tr("Area")}, 8)),
      low_(namedValue(new QLabel, tr("Smallest depth"))),
      high_(namedValue(new QLabel, tr("Largest depth"))),
      unit_(wrapped(namedValue(mutedLabel(), tr("Unit of the depth")))),
      pages_(new QStackedWidget) {
  for (QWidget* page : {makeClasses(), makeSegments(), makeDepths()}) pages_->addWidget(page);
  fill(unframed(new QVBoxLayout(this)), pages_);
  connect(model_, &LegendModel::paintChanged, this, &LegendPanel::fillSegments);
  setFrame(nullptr);
}

void LegendPanel::setModel(const ModelInfo& model) {
  pages_->setCurrentIndex(givesSegments(model.task) ? 1 : model.task == Task::kDepth ? 2 : 0);
}

void LegendPanel::setFrame(const LiveFramePtr& frame) {
  segments_ = frame ? frame->result.estimate.segments : std::vector<Segment>();
  pixels_ = frame ? frame->ids().total() : 0;
  std::ranges::stable_sort(segments_, std::greater(), &Segment::area);
  fillSegments();
  const bool known = frame && !frame->result.estimate.depth.empty();
  const auto number = [&](double DepthRange::*end) {
    return known ? QLocale().toString(frame->result.estimate.depth_range.*end, 'g', 4) : QStringLiteral("–");
  };
  setValue(low_, number(&DepthRange::min));
  setValue(high_, number(&DepthRange::max));
  setValue(unit_, known ? unitName(frame->result.model->facts.depth) : QString());
}

void LegendPanel::fillSegments() {
  const auto percent = [](double share, int decimals) { return tr("%1 %").arg(number(100 * share, decimals)); };
  segment_table_->setRowCount(static_cast<int>(segments_.size()));
  for (int row = 0; row < segment_table_->rowCount(); ++row) {
    const Segment& segment = segments_[static_cast<std::size_t>(row)];
    const bool known = segment.label < model_->classes();
    setRow(segment_table_, row,
           {known ? model_->name(segment.label) : QString(), percent(segment.score, 0),
            percent(static_cast<double>(segment.area) / static_cast<double>(pixels_), 1)},
           1);
    if (known) segment_table_->item(row, 0)->setData(Qt::DecorationRole, model_->color(segment.label));
  }
}

void LegendPanel::setRegions(const QStringList& names) {
  const QString before = region();
  regions_->clear();
  regions_->addItem(tr("Areas in the whole picture"), QString());
  for (const QString& name : names) regions_->addItem(tr("Areas in %1").arg(name), name);
  regions_->setCurrentIndex(std::max(0, regions_->findData(before)));
  regions_->setVisible(!names.isEmpty());
}

QWidget* LegendPanel::makeSegments() {
  segment_table_->setSelectionMode(QAbstractItemView::NoSelection);
  auto* page = new QWidget;
  fill(new QVBoxLayout(page), segment_table_)->setContentsMargins(8, 8, 8, 8);
  return page;
}

// The colours of depths from the smallest to the largest, with both and the unit.
QWidget* LegendPanel::makeDepths() {
  const auto& colors = vision::depthColors();
  QImage drawn(static_cast<int>(colors.size()), 1, QImage::Format_RGB32);
  for (int x = 0; x < drawn.width(); ++x) {
    const cv::Vec3b& color = colors[static_cast<std::size_t>(x)];
    drawn.setPixel(x, 0, qRgb(color[2], color[1], color[0]));
  }
  auto* bar = new QLabel;
  bar->setPixmap(QPixmap::fromImage(drawn));
  bar->setScaledContents(true);
  bar->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  bar->setFixedHeight(bar->fontMetrics().height());
  unit_->setAlignment(Qt::AlignHCenter);
  auto* grid = new QGridLayout;
  grid->addWidget(bar, 0, 0, 1, 3);
  grid->addWidget(low_, 1, 0, Qt::AlignLeft | Qt::AlignTop);
  grid->addWidget(unit_, 1, 1);
  grid->addWidget(high_, 1, 2, Qt::AlignRight | Qt::AlignTop);
  grid->setColumnStretch(1, 1);
  auto* page = new QWidget;
  panelColumn(page, mutedLabel(tr("Depth of this frame")), grid);
  return page;
}

QWidget* LegendPanel::makeClasses() {
  auto* page = new QWidget;
  auto* filter = new QSortFilterProxyModel(this);
  filter->setSourceModel(model_);
  filter->setFilterCaseSensitivity(Qt::CaseInsensitive);
  filter->setFilterKeyColumn(LegendModel::kName);
  filter->setSortRole(LegendModel::kSortRole);
  filter->setSortLocaleAware(true);
  filter->setDynamicSortFilter(false);  // areas change with every frame; rows must not jump under the mouse
  auto* search = named(new QLineEdit(this), tr("Search the classes"));
  search->setPlaceholderText(tr("Search"));
  search->setClearButtonEnabled(true);
  auto* all = pushButton(tr("All"), tr("Show every class"), model_, [this] { model_->setAllVisible(true); });
  auto* none = pushButton(tr("None"), tr("Hide every class"), model_, [this] { model_->setAllVisible(false); });

  table_->setModel(filter);
  table_->setSortingEnabled(true);
  table_->sortByColumn(LegendModel::kArea, Qt::DescendingOrder);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setContextMenuPolicy(Qt::CustomContextMenu);
  makePlain(table_, 8);
  table_->horizontalHeader()->setSectionResizeMode(LegendModel::kName, QHeaderView::Stretch);
  table_->horizontalHeader()->setSectionResizeMode(LegendModel::kArea, QHeaderView::ResizeToContents);
  table_->setMinimumHeight(90);

  // The first frame of a model, or of a region that was chosen, orders the classes by area; later ones would make rows
  // jump under the mouse.
  const auto sorted = std::make_shared<bool>(false);
  connect(regions_, &QComboBox::activated, this, [sorted] { *sorted = false; });
  connect(regions_, &QComboBox::activated, this, &LegendPanel::regionPicked);
  setRegions({});

  fill(new QVBoxLayout(page), regions_, fill(new QHBoxLayout, search, all, none), table_)
      ->setContentsMargins(8, 8, 8, 8);

  connect(search, &QLineEdit::textChanged, filter, &QSortFilterProxyModel::setFilterFixedString);
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
  connect(model_, &QAbstractItemModel::modelReset, this, [sorted] { *sorted = false; });
  connect(model_, &QAbstractItemModel::dataChanged, this, [this, filter, sorted] {
    bool known = false;  // before the first frame all areas are 0
    for (int c = 0; c < model_->classes(); ++c)
      known = known || model_->index(c, LegendModel::kArea).data(LegendModel::kSortRole).toDouble() > 0;
    if (!known || std::exchange(*sorted, true)) return;
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
