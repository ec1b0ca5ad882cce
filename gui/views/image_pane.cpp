// SPDX-License-Identifier: Apache-2.0
#include "gui/views/image_pane.h"

#include "gui/models/readout.h"
#include "gui/models/worker.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"

namespace mpm::gui {

ImagePane::ImagePane(PatchSelection* selection, const LegendModel* legend)
    : legend_(legend),
      image_(named(new ImageView(selection), tr("Image with classes"))),
      frame_label_(namedValue(muted(shortLabel()), tr("Frame on show"))) {
  image_->setPlaceholder(tr("Waiting for the first frame…"));
  frame_label_->setContentsMargins(10, 0, 6, 0);
  fill(seamless(new QVBoxLayout(this)), stretched(image_), frame_label_);
  refreshPaint();
  connect(image_, &ImageView::curtainMoved, this, &ImagePane::setCurtain);
}

void ImagePane::setFrame(const LiveFramePtr& frame) {
  image_->setFrame(frame);
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

void ImagePane::setFaded(bool faded) {
  if (std::exchange(paint_.faded, faded) != faded) refreshPaint();
}

void ImagePane::setMode(ViewMode mode) {
  paint_.mode = mode;
  refreshPaint();
  emit modeChanged(mode);
}

monitor::OverlayStyle ImagePane::overlayStyle() const {
  monitor::OverlayStyle style{paint_.opacity, {}};
  for (int c = 0; c < legend_->classes(); ++c) {
    const QRgb color = legend_->color(c).rgb();
    style.colors.emplace_back(qBlue(color), qGreen(color), qRed(color));
  }
  return style;
}

void ImagePane::setOpacity(double opacity) {
  paint_.opacity = std::clamp(std::round(opacity * 100) / 100, 0.0, 1.0);
  refreshPaint();
  emit opacityChanged(paint_.opacity);
}

void ImagePane::setCurtain(double share) {
  paint_.curtain = std::clamp(share, 0.0, 1.0);
  refreshPaint();
}

QVariantMap ImagePane::state() const { return {{"view/opacity", paint_.opacity}, {"view/curtain", paint_.curtain}}; }

void ImagePane::restore(const QSettings& stored) {
  const ClassPaint usual;
  setOpacity(storedNumber(stored, "view/opacity", 0, 1, usual.opacity));
  setCurtain(storedNumber(stored, "view/curtain", 0, 1, usual.curtain));
}

void ImagePane::refreshPaint() {
  legend_->apply(paint_);
  image_->setPaint(paint_);
}

// What the image draws beside the classes has the colours of the theme.
void ImagePane::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::StyleChange) return;
  refreshPaint();
  image_->setFrame(image_->frame());
}

}  // namespace mpm::gui
