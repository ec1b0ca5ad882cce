// SPDX-License-Identifier: Apache-2.0
#include "gui/views/compare_panel.h"

#include <QCheckBox>
#include <QLabel>
#include <QLocale>
#include <QVBoxLayout>

#include "gui/views/look.h"

namespace mpm::gui {

QImage differencePicture(const LiveFrame& frame, int width) {
  const cv::Mat& image = frame.scales.back();
  const cv::Mat& differs = frame.comparison->differs;
  const int height = std::max(1, width * image.rows / std::max(image.cols, 1));
  QImage picture(width, height, QImage::Format_RGB32);
  for (int y = 0; y < height; ++y) {
    auto* out = reinterpret_cast<QRgb*>(picture.scanLine(y));
    for (int x = 0; x < width; ++x) {
      const auto& bgr = image.at<cv::Vec3b>(y * image.rows / height, x * image.cols / width);
      const int grey = 40 + (bgr[0] * 29 + bgr[1] * 150 + bgr[2] * 77) / 400;
      const bool other =
          !differs.empty() && differs.at<std::uint8_t>(y * differs.rows / height, x * differs.cols / width);
      out[x] = other ? qRgb(255, 140, 0) : qRgb(grey, grey, grey);
    }
  }
  return picture;
}

ComparePanel::ComparePanel(QWidget* parent) : QWidget(parent) {
  on_ = new QCheckBox(tr("Also run the full model"), this);
  on_->setToolTip(tr("Each frame is processed twice, so fewer frames a second are"));
  facts_ = new QLabel(this);
  facts_->setWordWrap(true);
  difference_ = named(new QLabel(this), tr("Pixels whose class differs"));
  difference_->setMinimumHeight(60);
  difference_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 8, 10, 8);
  column->setSpacing(8);
  column->addWidget(on_);
  column->addWidget(facts_);
  column->addWidget(difference_, 1);
  connect(on_, &QCheckBox::toggled, this, [this](bool on) {
    refused_.clear();
    if (!on) setFrame(nullptr);
    emit compareToggled(on);
  });
  setFrame(nullptr);
}

void ComparePanel::setFrame(const LiveFramePtr& frame) {
  if (!on_->isChecked()) {
    picture_ = {};
    facts_->setText(
        !refused_.isEmpty()
            ? refused_
            : tr("Shows how far merging changes the labels of the very same frame, and how much time it saves."));
    showPicture();
    return;
  }
  if (!frame || !frame->comparison) {
    facts_->setText(tr("Waiting for the first frame…"));
    picture_ = {};
    showPicture();
    return;
  }
  const Comparison& c = *frame->comparison;
  const QLocale locale;
  facts_->setText(
      tr("Same label on %1 % of the pixels\n%2 times as fast: %3 ms instead of %4 ms\nOrange: the label differs")
          .arg(locale.toString(c.agreement * 100, 'f', 2), locale.toString(c.speed_up, 'f', 2),
               locale.toString(c.merged_ms, 'f', 1), locale.toString(c.full_ms, 'f', 1)));
  picture_ = differencePicture(*frame, 320);
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

QString ComparePanel::text() const { return facts_->text(); }

}  // namespace mpm::gui
