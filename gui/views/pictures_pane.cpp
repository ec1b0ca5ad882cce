// SPDX-License-Identifier: Apache-2.0
#include "gui/views/pictures_pane.h"

#include "gui/models/worker.h"
#include "gui/views/fields.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"
#include "gui/views/picture_view.h"

namespace mpm::gui {
namespace {

// In the settings, in the order of MergeColoring.
const QStringList kColorings = {"mean", "size", "insertion"};

}  // namespace

PicturesPane::PicturesPane(ImagePane* image, PatchSelection* selection, QAction* previous, QAction* next)
    : QSplitter(Qt::Horizontal),
      image_(image),
      selection_(selection),
      previous_(previous),
      next_(next),
      map_(named(new MergeView(selection), tr("Merge map"))),
      step_label_(namedValue(shortLabel(), tr("Insertion on show"))),
      coloring_(choiceField(tr("Colour of the clusters"), {tr("Mean colour"), tr("Cluster size"), tr("Insertion")})),
      map_bar_(new QWidget),
      map_side_(makeMapSide()) {
  setChildrenCollapsible(false);
  setHandleWidth(6);
  addWidget(image_);
  addWidget(map_side_);
  restoreSizes();
  alignLines();
  refreshStep();

  connect(image_->image(), &PictureView::viewStateChanged, map_, &PictureView::setViewState);
  connect(map_, &PictureView::viewStateChanged, image_->image(), &PictureView::setViewState);
  connect(selection_, &PatchSelection::changed, this, &PicturesPane::refreshStep);
}

QWidget* PicturesPane::makeMapSide() {
  map_->setPlaceholder(tr("The merge map appears with the first frame"));
  coloring_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  connect(coloring_, &QComboBox::activated, this,
          [this](int index) { setColoring(static_cast<MergeColoring>(index)); });
  auto* bar = new QVBoxLayout(map_bar_);
  bar->setContentsMargins(6, 4, 6, 4);
  // With larger text the colouring goes below the numbers of the step.
  auto* step = new QWidget;
  auto* buttons = unframed(new QHBoxLayout(step));
  buttons->setSpacing(4);
  fill(buttons, actionButton(previous_), actionButton(next_), step_label_);
  fill(bar, wrappingRow(4, {step, coloring_}));
  map_bar_->installEventFilter(this);
  auto* result = new QWidget;
  fill(seamless(new QVBoxLayout(result)), stretched(map_), map_bar_);
  return result;
}

void PicturesPane::setFrame(const LiveFramePtr& frame) {
  map_->setFrame(frame);
  refreshStep();
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
  if (!known) {
    setValue(step_label_, {});
  } else if (step == 0) {
    setValue(step_label_, tr("%n patch(es)", nullptr, frame->lookup.tokens()));
  } else {
    setValue(step_label_, tr("Block %1: %2 → %3")
                              .arg(frame->lookup.block(step))
                              .arg(frame->lookup.clusters(step - 1))
                              .arg(frame->lookup.clusters(step)));
  }
}

void PicturesPane::setColoring(MergeColoring coloring) {
  map_->setColoring(coloring);
  coloring_->setCurrentIndex(static_cast<int>(coloring));
}

void PicturesPane::showNextColoring() {
  setColoring(static_cast<MergeColoring>((static_cast<int>(map_->coloring()) + 1) % coloring_->count()));
}

void PicturesPane::showWholePicture() {
  image_->image()->setViewState({});
  map_->setViewState({});
}

QVariantMap PicturesPane::state() const {
  return {{"view/coloring", kColorings[static_cast<int>(map_->coloring())]}, {"view/split", saveState()}};
}

void PicturesPane::restore(const QSettings& stored) {
  setColoring(static_cast<MergeColoring>(storedIndex(stored, "view/coloring", kColorings, 0)));
  restoreState(stored.value("view/split").toByteArray());  // none, or damaged: the sizes stay
}

// A bar of the same height below each picture, so that they stand side by side. The numbers of the step are seen with
// larger text, too, and what stands behind them keeps its place.
void PicturesPane::alignLines() {
  step_label_->setMinimumWidth(
      step_label_->fontMetrics().horizontalAdvance(tr("Block %1: %2 → %3").arg(11).arg(999).arg(888)));
  image_->setLineHeight(map_bar_->sizeHint().height());
}

bool PicturesPane::eventFilter(QObject* object, QEvent* event) {
  if (object == map_bar_ && event->type() == QEvent::Resize) image_->setLineHeight(map_bar_->height());
  return QSplitter::eventFilter(object, event);
}

void PicturesPane::changeEvent(QEvent* event) {
  QSplitter::changeEvent(event);
  if (event->type() == QEvent::StyleChange) alignLines();
}

}  // namespace mpm::gui
