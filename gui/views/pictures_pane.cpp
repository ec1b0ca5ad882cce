// SPDX-License-Identifier: Apache-2.0
#include "gui/views/pictures_pane.h"

#include <QAction>
#include <QComboBox>
#include <QDateTime>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "gui/views/image_view.h"
#include "gui/views/look.h"
#include "gui/views/merge_view.h"

namespace mpm::gui {

PicturesPane::PicturesPane(PatchSelection* selection, const LegendModel* legend, QAction* previous, QAction* next,
                           QWidget* parent)
    : QSplitter(Qt::Horizontal, parent), selection_(selection), legend_(legend), previous_(previous), next_(next) {
  setChildrenCollapsible(false);
  setHandleWidth(6);
  QWidget* image_side = makeImageSide();
  map_side_ = makeMapSide(previous, next);
  addWidget(image_side);
  addWidget(map_side_);
  restoreSizes();
  refreshLook();
  refreshStep();

  connect(image_, &ImageView::curtainMoved, this, &PicturesPane::setCurtain);
  connect(image_, &PictureView::viewStateChanged, map_, &PictureView::setViewState);
  connect(map_, &PictureView::viewStateChanged, image_, &PictureView::setViewState);
  connect(selection_, &PatchSelection::changed, this, &PicturesPane::refreshStep);
}

QWidget* PicturesPane::makeImageSide() {
  auto* side = new QWidget(this);
  image_ = named(new ImageView(selection_, side), tr("Image with classes"));
  image_->setPlaceholder(tr("Waiting for the first frame…"));
  frame_label_ = mutedLabel({}, side);
  namedValue(frame_label_, tr("Frame on show"));
  frame_label_->setContentsMargins(10, 0, 6, 0);
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(image_, 1);
  column->addWidget(frame_label_);
  return side;
}

QString PicturesPane::frameText() const { return frame_label_->text(); }
QString PicturesPane::stepText() const { return step_label_->text(); }

QWidget* PicturesPane::makeMapSide(QAction* previous, QAction* next) {
  auto* side = new QWidget(this);
  map_ = named(new MergeView(selection_, side), tr("Merge map"));
  map_->setPlaceholder(tr("The merge map appears with the first frame"));
  auto* back = new QToolButton(side);
  back->setDefaultAction(previous);
  auto* forward = new QToolButton(side);
  forward->setDefaultAction(next);
  step_label_ = new QLabel(side);
  namedValue(step_label_, tr("Insertion on show"));
  step_label_->setMinimumWidth(40);
  coloring_ = named(new QComboBox(side), tr("Colour of the clusters"));
  coloring_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  coloring_->setMinimumContentsLength(8);
  coloring_->addItems({tr("Mean colour"), tr("Cluster size"), tr("Insertion")});
  connect(coloring_, &QComboBox::activated, this,
          [this](int index) { setColoring(static_cast<MergeColoring>(index)); });
  map_bar_ = new QWidget(side);
  auto* bar = new QHBoxLayout(map_bar_);
  bar->setContentsMargins(6, 4, 6, 4);
  bar->setSpacing(4);
  bar->addWidget(back);
  bar->addWidget(forward);
  bar->addWidget(step_label_, 1);
  bar->addWidget(coloring_);
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(map_, 1);
  column->addWidget(map_bar_);
  return side;
}

void PicturesPane::setFrame(const LiveFramePtr& frame) {
  image_->setFrame(frame);
  map_->setFrame(frame);
  const auto& captured = frame->result.frame;
  setValue(frame_label_, tr("%1 × %2 px").arg(frame->size().height()).arg(frame->size().width()) +
                             (captured.time > 0 ? QStringLiteral("  ·  ") +
                                                      QLocale().toString(QDateTime::fromMSecsSinceEpoch(captured.time),
                                                                         QStringLiteral("d MMM HH:mm:ss"))
                                                : QString()));
  refreshStep();
}

void PicturesPane::clear() {
  image_->setFrame(nullptr);
  map_->setFrame(nullptr);
  image_->setBanner({});
  setValue(frame_label_, {});
  refreshStep();
}

void PicturesPane::setBanner(const QString& text) { image_->setBanner(text); }
void PicturesPane::setPlaceholder(const QString& text) { image_->setPlaceholder(text); }

void PicturesPane::setFaded(bool faded) {
  if (faded == paint_.faded) return;
  paint_.faded = faded;
  refreshPaint();
}

void PicturesPane::setMode(ViewMode mode) {
  paint_.mode = mode;
  refreshPaint();
  emit modeChanged(mode);
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

void PicturesPane::showStep(int step) {
  selection_->setStep(std::clamp(step, 0, last_step_));
  refreshStep();
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

void PicturesPane::showMap(bool shown) {
  map_side_->setVisible(shown);
  emit mapShown(shown);
}

void PicturesPane::showWholePicture() {
  image_->setViewState({});
  map_->setViewState({});
}

void PicturesPane::restoreSizes() { setSizes({600, 600}); }

PicturesChoice PicturesPane::choice() const {
  return {paint_.mode, paint_.opacity, paint_.curtain, map_->coloring(), !map_side_->isHidden(), saveState()};
}

void PicturesPane::setChoice(const PicturesChoice& choice) {
  setMode(choice.mode);
  setOpacity(choice.opacity);
  setCurtain(choice.curtain);
  setColoring(choice.coloring);
  showMap(choice.map);
  restoreState(choice.split);  // none, or damaged: the sizes stay
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

}  // namespace mpm::gui
