// SPDX-License-Identifier: Apache-2.0
#include "gui/views/frame_panels.h"

#include "gui/models/readout.h"
#include "vision/labels/classes.h"
#include "vision/pictures/pictures.h"

namespace mpm::gui {

InspectorPanel::InspectorPanel(PatchSelection* selection, const LegendModel* legend, QWidget* parent)
    : QWidget(parent), selection_(selection), legend_(legend) {
  hint_ = wrapped(
      mutedLabel(tr("Point at a picture, or move the patch cursor with the arrow keys. A click pins the patch.")));
  facts_ = new QWidget;
  auto* form = unframed(new QFormLayout(facts_));
  form->setVerticalSpacing(4);
  const auto add = [&](const QString& name) {
    QLabel* value = wrapped(namedValue(new QLabel, name));
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    form->addRow(mutedLabel(name), value);
    return value;
  };
  class_ = add(tr("Class"));
  score_ = add(tr("Score"));
  found_ = add(tr("At this place"));
  cluster_ = add(tr("Cluster"));
  size_ = add(tr("Size"));
  merged_ = add(tr("Merged"));
  similarity_ = add(tr("Similarity"));
  patch_ = add(tr("Patch"));
  row_ = add(tr("Reuse"));
  pin_ = mutedLabel();
  panelColumn(this, hint_, facts_, pin_);
  connect(selection, &PatchSelection::changed, this, &InspectorPanel::refresh);
  refresh();
}

void InspectorPanel::setFrame(LiveFramePtr frame) {
  frame_ = std::move(frame);
  refresh();
}

void InspectorPanel::refresh() {
  const auto token = selection_->token();
  const bool known = frame_ && frame_->hasGrid() && token && *token < frame_->lookup.tokens();
  hint_->setVisible(!known);
  facts_->setVisible(known);
  pin_->setText(selection_->pinned() ? tr("Pinned: click it again to let go") : QString());
  if (!known) return;

  const MergeLookup& lookup = frame_->lookup;
  const int step = std::min(selection_->step(), lookup.steps() - 1);
  const auto label = frame_->classOfToken(*token);
  setValue(class_, !label                        ? tr("none: this model does not segment")
                   : *label < legend_->classes() ? legend_->name(*label)
                                                 : QString::fromStdString(vision::className({}, *label)));
  const Estimate& result = frame_->result.estimate;
  const auto score = *token < static_cast<int>(result.token_score.size()) ? result.token_score[*token] : -1.0F;
  setValue(score_, score >= 0 ? tr("%1 %").arg(number(static_cast<double>(score) * 100, 1)) : tr("not known"));
  const QPointF middle((*token % lookup.grid().width + 0.5) / lookup.grid().width,
                       (*token / lookup.grid().width + 0.5) / lookup.grid().height);
  setValue(found_, readout(*frame_, selection_->pinned() ? middle : selection_->cursor().value_or(middle)));
  auto* form = static_cast<QFormLayout*>(facts_->layout());
  form->setRowVisible(found_, !found_->text().isEmpty());
  for (QLabel* value : {class_, score_}) form->setRowVisible(value, found_->text().isEmpty());
  const int size = lookup.size(step, *token);
  setValue(cluster_, tr("%1 of %2").arg(lookup.cluster(step, *token)).arg(lookup.clusters(step)));
  setValue(size_, tr("%n patch(es)", nullptr, size));
  const int merged = lookup.mergedAt(step, *token);
  const auto& model = frame_->result.model;
  const bool inside = model && model->reduction.method != ReductionMethod::kMpm;
  setValue(merged_, merged == 0 ? tr("not yet")
                                : (inside ? tr("in block %1") : tr("before block %1")).arg(lookup.block(merged)));
  const bool similar = merged > 0 && static_cast<std::size_t>(merged) <= result.pair_similarity.size();
  setValue(similarity_,
           similar
               ? tr("%1 with its pair").arg(number(static_cast<double>(result.pair_similarity[merged - 1][*token]), 3))
               : tr("no pair"));
  setValue(row_, rowAge(*frame_, middle));
  form->setRowVisible(row_, !row_->text().isEmpty());
  setValue(patch_, tr("row %1, column %2").arg(*token / lookup.grid().width).arg(*token % lookup.grid().width));
}

SpeedPanel::SpeedPanel(QWidget* parent) : QWidget(parent) {
  form_ = new QFormLayout;
  form_->setVerticalSpacing(4);
  const auto add = [form = form_](const QString& name) {
    QLabel* value = namedValue(new QLabel(QStringLiteral("–")), name);
    form->addRow(mutedLabel(name), value);
    return value;
  };
  in_ = add(tr("Frames in"));
  processed_ = add(tr("Processed"));
  dropped_ = add(tr("Dropped"));
  p50_ = add(tr("Median latency"));
  p95_ = add(tr("95 % within"));
  rows_ = wrapped(add(tr("Rows computed")));
  agreement_ = wrapped(add(tr("Agreement")));

  auto* stages = new QGridLayout;
  stages->setVerticalSpacing(4);
  const QString names[kStages] = {tr("Backbone"), tr("Merge"), tr("Restore"), tr("Head"), tr("Before and after")};
  for (int i = 0; i < kStages; ++i) {
    bars_[i] = new QProgressBar;
    bars_[i]->setRange(0, 1000);
    bars_[i]->setTextVisible(false);
    bars_[i]->setFixedHeight(10);
    times_[i] = namedValue(new QLabel, names[i]);
    stages->addWidget(mutedLabel(names[i]), i, 0);
    stages->addWidget(bars_[i], i, 1);
    stages->addWidget(times_[i], i, 2, Qt::AlignRight);
  }
  panelColumn(this, form_, headingLabel(tr("Last frame")), stages);
  setTimes({});
  setStatus({}, {});
}

void SpeedPanel::setStatus(const monitor::CaptureStatus& capture, const monitor::InferenceStatus& inference) {
  const QLocale locale;
  const auto rate = [&](double fps, std::int64_t frames) {
    return tr("%1 fps, %2 in all").arg(number(fps, 1), locale.toString(qlonglong(frames)));
  };
  setValue(in_, rate(capture.fps, capture.in));
  setValue(processed_, rate(inference.fps, inference.processed));
  const double share =
      capture.in > 0 ? 100.0 * static_cast<double>(capture.dropped) / static_cast<double>(capture.in) : 0;
  setValue(dropped_, tr("%1 (%2 %)").arg(locale.toString(qlonglong(capture.dropped)), number(share)));
  setValue(p50_, tr("%1 ms").arg(number(inference.p50_ms, 1)));
  setValue(p95_, tr("%1 ms").arg(number(inference.p95_ms, 1)));
  const auto& reuse = inference.reuse;
  for (QLabel* value : {rows_, agreement_}) form_->setRowVisible(value, reuse.has_value());
  if (!reuse) return;
  setValue(rows_, tr("%1 %, mean %2 %").arg(number(100 * reuse->rows, 1), number(100 * reuse->all_rows.mean, 1)));
  const auto percent = [&](double value) { return number(value, 2); };
  setValue(agreement_, reuse->all_agreement.samples == 0
                           ? tr("no key frame compared yet")
                           : tr("%1 %, mean %2 %, lowest %3 %")
                                 .arg(percent(reuse->agreement), percent(reuse->all_agreement.mean),
                                      percent(reuse->all_agreement.min)));
}

void SpeedPanel::setTimes(const StageTimes& ms) {
  const double times[kStages] = {ms.backbone, ms.merge, ms.restore, ms.head, ms.preprocess + ms.postprocess};
  const double longest = std::max(0.1, *std::max_element(std::begin(times), std::end(times)));
  for (int i = 0; i < kStages; ++i) {
    bars_[i]->setValue(static_cast<int>(std::lround(1000 * times[i] / longest)));
    setValue(times_[i], tr("%1 ms").arg(number(times[i], 1)));
  }
}

namespace {

int classAt(const QModelIndex& index) { return index.data(LegendModel::kClassRole).toInt(); }

}  // namespace

LegendPanel::LegendPanel(LegendModel* model, QWidget* parent) : QWidget(parent), model_(model) {
  pages_ = new QStackedWidget;
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
  segment_table_ = plainTable(tr("Segments"), {tr("Segment"), tr("Score"), tr("Area")}, 8);
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
  low_ = namedValue(new QLabel, tr("Smallest depth"));
  high_ = namedValue(new QLabel, tr("Largest depth"));
  unit_ = wrapped(namedValue(mutedLabel(), tr("Unit of the depth")));
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
  // The first frame orders the classes by area; later ones would make rows jump under the mouse.
  connect(model_, &QAbstractItemModel::dataChanged, this, [this, filter, sorted = false, was = 0]() mutable {
    if (was != model_->classes()) sorted = false;
    was = model_->classes();
    bool known = false;  // before the first frame all areas are 0
    for (int c = 0; c < was; ++c)
      known = known || model_->index(c, LegendModel::kArea).data(LegendModel::kSortRole).toDouble() > 0;
    if (!known || std::exchange(sorted, true)) return;
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
