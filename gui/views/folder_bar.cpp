// SPDX-License-Identifier: Apache-2.0
#include "gui/views/folder_bar.h"

#include "gui/views/look.h"

namespace mpm::gui {

FolderBar::FolderBar(QAction* previous, QAction* next, QWidget* parent)
    : QWidget(parent), previous_(previous), next_(next) {
  slider_ = named(new QSlider(Qt::Horizontal), tr("Picture of the folder"));
  slider_->setPageStep(1);
  label_ = namedValue(new ShortLabel, tr("Picture on show"));
  label_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  QBoxLayout* row = fill(new QHBoxLayout(this), actionButton(previous), slider_, actionButton(next), label_);
  row->setContentsMargins(6, 4, 10, 4);
  row->setSpacing(6);
  row->setStretch(1, 1);
  row->setStretch(3, 1);
  connect(slider_, &QSlider::valueChanged, this, [this](int index) {
    refresh();
    emit picked(index);
  });
  setFiles({});
}

void FolderBar::setFiles(const QStringList& files) {
  files_ = files;
  const QSignalBlocker quiet(slider_);
  slider_->setRange(0, std::max(0, static_cast<int>(files.size()) - 1));
  slider_->setValue(0);
  setVisible(!files.isEmpty());
  refresh();
}

void FolderBar::setCurrent(int index) {
  const QSignalBlocker quiet(slider_);
  slider_->setValue(index);
  refresh();
}

int FolderBar::current() const { return slider_->value(); }

void FolderBar::refresh() {
  previous_->setEnabled(current() > 0);
  next_->setEnabled(current() + 1 < files_.size());
  if (files_.isEmpty()) return setValue(label_, {});
  const QFileInfo file(files_[current()]);
  setValue(label_, tr("%1  ·  %2 of %3  ·  %4")
                       .arg(file.fileName())
                       .arg(current() + 1)
                       .arg(files_.size())
                       .arg(QLocale().toString(file.lastModified(), QStringLiteral("d MMM yyyy HH:mm"))));
  label_->setToolTip(tr("%1, file of %2").arg(file.filePath(), QLocale().toString(file.lastModified())));
}

}  // namespace mpm::gui
