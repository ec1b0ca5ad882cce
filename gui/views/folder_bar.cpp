// SPDX-License-Identifier: Apache-2.0
#include "gui/views/folder_bar.h"

#include "gui/models/readout.h"
#include "gui/views/fields.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"

namespace mpm::gui {

FolderBar::FolderBar(QAction* previous, QAction* next, QWidget* parent)
    : QWidget(parent),
      previous_(previous),
      next_(next),
      slider_(named(new QSlider(Qt::Horizontal), tr("Picture of the folder"))),
      label_(namedValue(shortLabel(), tr("Picture on show"))) {
  slider_->setPageStep(1);
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

void FolderBar::setPictures(std::vector<FolderPicture> pictures, const charts::OptionalClock& clock) {
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
  // The number first: where the window is narrow, the rest is cut.
  const QString text =
      tr("%1 of %2  ·  %3")
          .arg(QString::number(current() + 1), QString::number(pictures_.size()), QFileInfo(picture.file).fileName());
  setValue(label_, picture.time > 0 ? text + QStringLiteral("  ·  ") + timeText(picture.time, clock_) : text);
  label_->setToolTip(picture.file);
}

}  // namespace mpm::gui
