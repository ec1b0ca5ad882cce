// SPDX-License-Identifier: Apache-2.0
#include "gui/views/pictures_pane.h"

#include "gui/models/readout.h"
#include "gui/models/worker.h"
#include "gui/views/fields.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"
#include "gui/views/picture_view.h"

namespace mpm::gui {
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
    : QSplitter(Qt::Horizontal),
      selection_(selection),
      legend_(legend),
      previous_(previous),
      next_(next),
      image_(named(new ImageView(selection), tr("Image with classes"))),
      map_(named(new MergeView(selection), tr("Merge map"))),
      frame_label_(namedValue(muted(shortLabel()), tr("Frame on show"))),
      step_label_(namedValue(shortLabel(), tr("Insertion on show"))),
      coloring_(choiceField(tr("Colour of the clusters"), {tr("Mean colour"), tr("Cluster size"), tr("Insertion")})),
      map_bar_(new QWidget),
      map_side_(makeMapSide()) {
  setChildrenCollapsible(false);
  setHandleWidth(6);
  image_->setPlaceholder(tr("Waiting for the first frame…"));
  frame_label_->setContentsMargins(10, 0, 6, 0);
  addWidget(side(image_, frame_label_));
  addWidget(map_side_);
  restoreSizes();
  refreshLook();
  refreshStep();

  connect(image_, &ImageView::curtainMoved, this, &PicturesPane::setCurtain);
  connect(image_, &PictureView::viewStateChanged, map_, &PictureView::setViewState);
  connect(map_, &PictureView::viewStateChanged, image_, &PictureView::setViewState);
  connect(selection_, &PatchSelection::changed, this, &PicturesPane::refreshStep);
}

QWidget* PicturesPane::makeMapSide() {
  map_->setPlaceholder(tr("The merge map appears with the first frame"));
  coloring_->setMinimumContentsLength(11);  // "Couleur moyenne"
  connect(coloring_, &QComboBox::activated, this,
          [this](int index) { setColoring(static_cast<MergeColoring>(index)); });
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
  // `size`: as it is said. The line below the picture has little room; the tool tip says the same in full.
  const auto facts = [&](const QString& size) {
    QStringList all;
    if (!captured.file.empty()) all << QFileInfo(QString::fromStdString(captured.file)).fileName();
    if (captured.time > 0) all << timeText(captured.time, clock_);
    all << size.arg(frame->size().width()).arg(frame->size().height());
    if (const auto& model = frame->result.model) all << QString::fromStdString(toString(model->reduction));
    return all;
  };
  setValue(frame_label_, facts(tr("%1 × %2 px")).join(QStringLiteral("  ·  ")));
  frame_label_->setToolTip(facts(tr("%1 × %2 px (width × height)")).join(QLatin1Char('\n')));
}

void PicturesPane::setFaded(bool faded) {
  if (std::exchange(paint_.faded, faded) != faded) refreshPaint();
}

void PicturesPane::setMode(ViewMode mode) {
  paint_.mode = mode;
  refreshPaint();
  emit modeChanged(mode);
}

monitor::OverlayStyle PicturesPane::overlayStyle() const {
  monitor::OverlayStyle style{paint_.opacity, {}};
  for (int c = 0; c < legend_->classes(); ++c) {
    const QRgb color = legend_->color(c).rgb();
    style.colors.emplace_back(qBlue(color), qGreen(color), qRed(color));
  }
  return style;
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

}  // namespace mpm::gui
