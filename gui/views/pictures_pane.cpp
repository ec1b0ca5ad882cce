// SPDX-License-Identifier: Apache-2.0
#include "gui/views/pictures_pane.h"

#include "gui/models/readout.h"
#include "gui/models/worker.h"

namespace mpm::gui {

int MergeView::step() const {
  return frame() && frame()->hasGrid() ? std::min(selection().step(), frame()->lookup.steps() - 1) : 0;
}

void MergeView::paintPicture(QPainter& painter, const Viewport& view) {
  if (!frame()->hasGrid()) {
    painter.setPen(theme().on_canvas);
    painter.drawText(rect(), Qt::AlignCenter, tr("No merge map for this picture"));
    return;
  }
  const MergeLookup& lookup = frame()->lookup;
  if (std::exchange(stale_, false) || shown_step_ != step()) {
    shown_step_ = step();
    fill_ = mergeFill(lookup, shown_step_, coloring_, frame()->patch_colors);
    borders_ = mergeBorders(lookup, shown_step_);
  }
  const Size2 grid = lookup.grid();
  const auto cellOf = [&](int token) {
    const int x = token % grid.width, y = token / grid.width;
    return QRect(view.corner(x, y, grid), view.corner(x + 1, y + 1, grid) - QPoint(1, 1));
  };
  painter.setClipRect(rect());
  for (int token = 0; token < lookup.tokens(); ++token)
    if (const QRect cell = cellOf(token); cell.intersects(rect())) painter.fillRect(cell, QColor(fill_[token]));
  QVector<QLine> lines;
  for (const GridLine& line : borders_)
    lines.append({view.corner(line.x1, line.y1, grid), view.corner(line.x2, line.y2, grid)});
  // The mean colours of a picture need a light line between them, flat fills a dark one.
  painter.setPen(QPen(coloring_ == MergeColoring::kMean ? QColor(255, 255, 255, 170) : QColor(0, 0, 0, 150), 0));
  painter.drawLines(lines);

  if (coloring_ == MergeColoring::kSize && cellOf(0).width() >= 2 * fontMetrics().averageCharWidth() + 6) {
    for (int token = 0; token < lookup.tokens(); ++token) {
      const int size = lookup.size(shown_step_, token);
      if (size < 2) continue;
      painter.setPen(readableOn(QColor(fill_[token])));
      painter.drawText(cellOf(token), Qt::AlignCenter, QString::number(size));
    }
  }
  if (coloring_ != MergeColoring::kMean) paintKey(painter);
  paintMeaning(painter, view.pictureRect());
}

// Says above the picture what the cells are, where the window leaves space.
void MergeView::paintMeaning(QPainter& painter, const QRectF& picture) {
  const QString meaning =
      shown_step_ == 0 ? tr("Each cell is one token: a patch that the network works on.")
                       : tr("Each cell is one token: patches that look alike to the network were averaged, and from "
                            "this block on it works on the cells alone.");
  QRect above(0, 0, width(), static_cast<int>(picture.top()));
  if (!banner().isEmpty()) return;
  above.adjust(16, 8, -16, -8);
  const QRect needed = fontMetrics().boundingRect(above, Qt::AlignCenter | Qt::TextWordWrap, meaning);
  if (!above.contains(needed)) return;
  painter.setPen(theme().on_canvas);
  painter.drawText(above, Qt::AlignCenter | Qt::TextWordWrap, meaning);
}

void MergeView::paintKey(QPainter& painter) {
  std::vector<std::pair<QColor, QString>> entries;
  if (coloring_ == MergeColoring::kSize) {
    const QString labels[kSizeBins] = {tr("1 patch"), tr("2"), tr("3–4"), tr("5–8"), tr("9 and more")};
    for (int bin = 0; bin < kSizeBins; ++bin) entries.emplace_back(QColor(sizeColor(bin)), labels[bin]);
  } else {
    entries.emplace_back(QColor(insertionColor(0)), tr("not merged"));
    for (int k = 1; k <= step(); ++k)
      entries.emplace_back(QColor(insertionColor(k)), tr("before block %1").arg(frame()->lookup.block(k)));
  }
  const int row = fontMetrics().height() + 4;
  int width_needed = 0;
  for (const auto& [color, text] : entries)
    width_needed = std::max(width_needed, fontMetrics().horizontalAdvance(text));
  const int count = static_cast<int>(entries.size());
  const QRect box(8, height() - count * row - 20, width_needed + row + 24, count * row + 12);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(QColor(0, 0, 0, 190));
  painter.drawRoundedRect(box, 6, 6);
  for (int i = 0; i < count; ++i) {
    const int y = box.top() + 6 + i * row;
    painter.setPen(QPen(QColor(255, 255, 255, 150), 1));
    painter.setBrush(entries[i].first);
    painter.drawRect(QRect(box.left() + 8, y + 3, row - 8, row - 8));
    painter.setPen(Qt::white);
    painter.drawText(QRect(box.left() + row + 8, y, width_needed + 8, row), Qt::AlignVCenter | Qt::AlignLeft,
                     entries[i].second);
  }
}

namespace {

// In the settings, in the order of MergeColoring.
const QStringList kColorings = {"mean", "size", "insertion"};

QWidget* side(QWidget* picture, QWidget* bar) {
  auto* result = new QWidget;
  fill(seamless(new QVBoxLayout(result)), stretched(picture), bar);
  return result;
}

}  // namespace

PicturesPane::PicturesPane(PatchSelection* selection, const LegendModel* legend, QAction* previous, QAction* next)
    : QSplitter(Qt::Horizontal), selection_(selection), legend_(legend), previous_(previous), next_(next) {
  setChildrenCollapsible(false);
  setHandleWidth(6);
  image_ = named(new ImageView(selection_), tr("Image with classes"));
  image_->setPlaceholder(tr("Waiting for the first frame…"));
  frame_label_ = namedValue(muted(shortLabel()), tr("Frame on show"));
  frame_label_->setContentsMargins(10, 0, 6, 0);
  addWidget(side(image_, frame_label_));
  addWidget(map_side_ = makeMapSide());
  restoreSizes();
  refreshLook();
  refreshStep();

  connect(image_, &ImageView::curtainMoved, this, &PicturesPane::setCurtain);
  connect(image_, &PictureView::viewStateChanged, map_, &PictureView::setViewState);
  connect(map_, &PictureView::viewStateChanged, image_, &PictureView::setViewState);
  connect(selection_, &PatchSelection::changed, this, &PicturesPane::refreshStep);
}

QWidget* PicturesPane::makeMapSide() {
  map_ = named(new MergeView(selection_), tr("Merge map"));
  map_->setPlaceholder(tr("The merge map appears with the first frame"));
  step_label_ = namedValue(shortLabel(), tr("Insertion on show"));
  coloring_ = choiceField(tr("Colour of the clusters"), {tr("Mean colour"), tr("Cluster size"), tr("Insertion")});
  coloring_->setMinimumContentsLength(11);  // "Couleur moyenne"
  connect(coloring_, &QComboBox::activated, this,
          [this](int index) { setColoring(static_cast<MergeColoring>(index)); });
  map_bar_ = new QWidget;
  auto* bar = new QHBoxLayout(map_bar_);
  bar->setContentsMargins(6, 4, 6, 4);
  bar->setSpacing(4);
  fill(bar, actionButton(previous_), actionButton(next_), stretched(step_label_), coloring_);
  return side(map_, map_bar_);
}

void PicturesPane::setFrame(const LiveFramePtr& frame) {
  image_->setFrame(frame);
  map_->setFrame(frame);
  refreshStep();
  if (!frame) return setValue(frame_label_, {});
  const auto& captured = frame->result.frame;
  QStringList facts;
  if (!captured.file.empty()) facts << QFileInfo(QString::fromStdString(captured.file)).fileName();
  if (captured.time > 0) facts << timeText(captured.time, clock_);
  facts << tr("%1 × %2 px (width × height)").arg(frame->size().width()).arg(frame->size().height());
  if (const auto& model = frame->result.model) facts << QString::fromStdString(toString(model->reduction));
  setValue(frame_label_, facts.join(QStringLiteral("  ·  ")));
  frame_label_->setToolTip(facts.join(QLatin1Char('\n')));
}

void PicturesPane::setFaded(bool faded) {
  if (std::exchange(paint_.faded, faded) != faded) refreshPaint();
}

void PicturesPane::setMode(ViewMode mode) {
  paint_.mode = mode;
  refreshPaint();
}

void PicturesPane::setOpacity(double opacity) {
  paint_.opacity = std::clamp(std::round(opacity * 100) / 100, 0.0, 1.0);
  refreshPaint();
  emit opacityChanged(paint_.opacity);
}

void PicturesPane::setCurtain(double share) {
  paint_.curtain = std::clamp(share, 0.0, 1.0);
  refreshPaint();
}

void PicturesPane::setSteps(int last) {
  last_step_ = last;
  showStep(last);
}

void PicturesPane::refreshStep() {
  const LiveFramePtr& frame = map_->frame();
  const bool known = frame && frame->hasGrid();
  const int step = map_->step();
  previous_->setEnabled(known && step > 0);
  next_->setEnabled(known && step + 1 < frame->lookup.steps());
  if (!known)
    setValue(step_label_, {});
  else if (step == 0)
    setValue(step_label_, tr("%n patch(es)", nullptr, frame->lookup.tokens()));
  else
    setValue(step_label_, tr("Block %1: %2 → %3")
                              .arg(frame->lookup.block(step))
                              .arg(frame->lookup.clusters(step - 1))
                              .arg(frame->lookup.clusters(step)));
}

void PicturesPane::setColoring(MergeColoring coloring) {
  map_->setColoring(coloring);
  coloring_->setCurrentIndex(static_cast<int>(coloring));
}

void PicturesPane::showNextColoring() {
  setColoring(static_cast<MergeColoring>((static_cast<int>(map_->coloring()) + 1) % coloring_->count()));
}

void PicturesPane::showWholePicture() {
  image_->setViewState({});
  map_->setViewState({});
}

QVariantMap PicturesPane::state() const {
  return {{"view/opacity", paint_.opacity},
          {"view/curtain", paint_.curtain},
          {"view/coloring", kColorings[static_cast<int>(map_->coloring())]},
          {"view/split", saveState()}};
}

void PicturesPane::restore(const QSettings& stored) {
  const ClassPaint usual;
  setOpacity(storedNumber(stored, "view/opacity", 0, 1, usual.opacity));
  setCurtain(storedNumber(stored, "view/curtain", 0, 1, usual.curtain));
  setColoring(static_cast<MergeColoring>(storedIndex(stored, "view/coloring", kColorings, 0)));
  restoreState(stored.value("view/split").toByteArray());  // none, or damaged: the sizes stay
}

void PicturesPane::refreshPaint() {
  legend_->apply(paint_);
  image_->setPaint(paint_);
}

void PicturesPane::refreshLook() {
  refreshPaint();
  image_->setFrame(image_->frame());
  // A bar of the same height below each picture, so that they stand side by side.
  frame_label_->setFixedHeight(map_bar_->sizeHint().height());
}

FolderBar::FolderBar(QAction* previous, QAction* next, QWidget* parent)
    : QWidget(parent), previous_(previous), next_(next) {
  slider_ = named(new QSlider(Qt::Horizontal), tr("Picture of the folder"));
  slider_->setPageStep(1);
  label_ = namedValue(shortLabel(), tr("Picture on show"));
  label_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  QBoxLayout* row =
      fill(new QHBoxLayout(this), actionButton(previous), stretched(slider_), actionButton(next), stretched(label_, 2));
  row->setContentsMargins(6, 4, 10, 4);
  row->setSpacing(6);
  connect(slider_, &QSlider::valueChanged, this, [this](int index) {
    refresh();
    emit picked(index);
  });
  setPictures({});
}

void FolderBar::setPictures(std::vector<FolderPicture> pictures, const charts::Clock& clock) {
  pictures_ = std::move(pictures);
  clock_ = clock;
  const QSignalBlocker quiet(slider_);
  slider_->setRange(0, std::max(0, static_cast<int>(pictures_.size()) - 1));
  slider_->setValue(0);
  setVisible(!pictures_.empty());
  refresh();
}

void FolderBar::setCurrent(int index, UnixMs time) {
  const QSignalBlocker quiet(slider_);
  if (time > 0) pictures_[static_cast<std::size_t>(index)].time = time;
  slider_->setValue(index);
  refresh();
}

void FolderBar::refresh() {
  previous_->setEnabled(current() > 0);
  next_->setEnabled(current() + 1 < static_cast<int>(pictures_.size()));
  if (pictures_.empty()) return setValue(label_, {});
  const FolderPicture& picture = pictures_[static_cast<std::size_t>(current())];
  const QString text =
      tr("%1  ·  %2 of %3")
          .arg(QFileInfo(picture.file).fileName(), QString::number(current() + 1), QString::number(pictures_.size()));
  setValue(label_, picture.time > 0 ? text + QStringLiteral("  ·  ") + timeText(picture.time, clock_) : text);
  label_->setToolTip(picture.file);
}

}  // namespace mpm::gui
