// SPDX-License-Identifier: Apache-2.0
#include "gui/views/compare_panel.h"

#include <QCheckBox>
#include <QLabel>
#include <QLocale>
#include <QVBoxLayout>

#include "gui/views/look.h"

namespace mpm::gui {

ComparePanel::ComparePanel(QWidget* parent) : QWidget(parent) {
  on_ = new QCheckBox(tr("Also run the full model"));
  on_->setToolTip(tr("Each frame is processed twice, so fewer frames a second are"));
  facts_ = wrapped(new QLabel);
  difference_ = named(new QLabel, tr("Pixels whose class differs"));
  difference_->setMinimumHeight(60);
  difference_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  panelColumn(this, on_, facts_, difference_)->setStretch(2, 1);
  connect(on_, &QCheckBox::toggled, this, [this](bool on) {
    refused_.clear();
    if (!on) setFrame(nullptr);
    emit compareToggled(on);
  });
  setFrame(nullptr);
}

void ComparePanel::setFrame(const LiveFramePtr& frame) {
  picture_ = {};
  if (!on_->isChecked()) {
    facts_->setText(
        !refused_.isEmpty()
            ? refused_
            : tr("Shows how far merging changes the labels of the very same frame, and how much time it saves."));
  } else if (!frame || !frame->comparison) {
    facts_->setText(tr("Waiting for the first frame…"));
  } else {
    const Comparison& c = *frame->comparison;
    const QLocale locale;
    facts_->setText(
        tr("Same label on %1 % of the pixels\n%2 times as fast: %3 ms instead of %4 ms\nOrange: the label differs")
            .arg(locale.toString(c.agreement * 100, 'f', 2), locale.toString(c.speed_up, 'f', 2),
                 locale.toString(c.merged_ms, 'f', 1), locale.toString(c.full_ms, 'f', 1)));
    picture_ = QImage(c.picture.data, c.picture.cols, c.picture.rows, static_cast<qsizetype>(c.picture.step),
                      QImage::Format_BGR888)
                   .copy();
  }
  showPicture();
}

void ComparePanel::refuse(const QString& why) {
  on_->setChecked(false);
  refused_ = tr("No comparison: %1").arg(why);
  setFrame(nullptr);
}

void ComparePanel::showPicture() {
  if (picture_.isNull()) return difference_->clear();
  difference_->setPixmap(QPixmap::fromImage(picture_.scaled(difference_->size(), Qt::KeepAspectRatio)));
}

void ComparePanel::resizeEvent(QResizeEvent*) { showPicture(); }

}  // namespace mpm::gui
