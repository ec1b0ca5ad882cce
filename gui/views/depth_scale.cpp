// SPDX-License-Identifier: Apache-2.0
#include "gui/views/depth_scale.h"

#include <QGridLayout>
#include <QImage>
#include <QLabel>
#include <QLocale>
#include <QPainter>

#include "gui/models/readout.h"
#include "gui/views/look.h"
#include "vision/pictures/depth_pictures.h"

namespace mpm::gui {
namespace {

class ColorBar : public QWidget {
 public:
  ColorBar() {
    setMinimumHeight(fontMetrics().height());
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  }
  QSize sizeHint() const override { return {120, fontMetrics().height()}; }

 protected:
  void paintEvent(QPaintEvent*) override {
    const auto& colors = vision::depthColors();
    QImage bar(static_cast<int>(colors.size()), 1, QImage::Format_RGB32);
    for (int x = 0; x < bar.width(); ++x) {
      const cv::Vec3b& color = colors[static_cast<std::size_t>(x)];
      bar.setPixel(x, 0, qRgb(color[2], color[1], color[0]));
    }
    QPainter(this).drawImage(rect(), bar);
  }
};

}  // namespace

DepthScale::DepthScale(QWidget* parent) : QWidget(parent) {
  low_ = namedValue(new QLabel, tr("Smallest depth"));
  high_ = namedValue(new QLabel, tr("Largest depth"));
  unit_ = wrapped(namedValue(mutedLabel(), tr("Unit of the depth")));
  unit_->setAlignment(Qt::AlignHCenter);
  auto* grid = new QGridLayout;
  grid->addWidget(new ColorBar, 0, 0, 1, 3);
  grid->addWidget(low_, 1, 0, Qt::AlignLeft | Qt::AlignTop);
  grid->addWidget(unit_, 1, 1);
  grid->addWidget(high_, 1, 2, Qt::AlignRight | Qt::AlignTop);
  grid->setColumnStretch(1, 1);
  panelColumn(this, mutedLabel(tr("Depth of this frame")), grid);
  setFrame(nullptr);
}

void DepthScale::setFrame(const LiveFrame* frame) {
  const bool known = frame && !frame->result.estimate.depth.empty();
  const auto number = [](double depth) { return QLocale().toString(depth, 'g', 4); };
  const QString none = QStringLiteral("–");
  setValue(low_, known ? number(frame->result.estimate.depth_range.min) : none);
  setValue(high_, known ? number(frame->result.estimate.depth_range.max) : none);
  setValue(unit_, known ? unitName(frame->result.model->facts.depth) : QString());
}

}  // namespace mpm::gui
