// SPDX-License-Identifier: Apache-2.0
#include "gui/views/schedule_panel.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <algorithm>

#include "gui/views/look.h"

namespace mpm::gui {

SchedulePanel::SchedulePanel(QWidget* parent) : QWidget(parent) {
  summary_ = new QLabel(this);
  summary_->setWordWrap(true);
  grid_ = new QGridLayout;
  grid_->setHorizontalSpacing(10);
  grid_->setVerticalSpacing(4);
  paper_ = new QPushButton(tr("Paper: 2, 5"), this);
  paper_->setToolTip(tr("Merge before blocks 2 and 5, the schedule of the paper"));
  none_ = new QPushButton(tr("Full model"), this);
  none_->setToolTip(tr("No merging at all"));
  copy_ = new QPushButton(tr("Copy as command line"), this);
  copy_->setToolTip(tr("The command that watches this source with this model and schedule without a window"));

  auto* presets = new QHBoxLayout;
  presets->addWidget(paper_);
  presets->addWidget(none_);
  presets->addStretch();
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 8, 10, 10);
  column->setSpacing(8);
  column->addWidget(mutedLabel(tr("Merge tokens before block"), this));
  column->addLayout(grid_);
  column->addWidget(summary_);
  column->addLayout(presets);
  column->addWidget(copy_);
  column->addStretch();
  connect(paper_, &QPushButton::clicked, this, [this] { choose(kDefaultSchedule); });
  connect(none_, &QPushButton::clicked, this, [this] { choose({}); });
  connect(copy_, &QPushButton::clicked, this, &SchedulePanel::copyRequested);
  refresh();
}

void SchedulePanel::setModel(const ModelInfo& info) {
  if (static_cast<int>(boxes_.size()) != info.blocks) {
    for (QCheckBox* box : boxes_) delete box;
    boxes_.clear();
    constexpr int kColumns = 4;
    for (int block = 0; block < info.blocks; ++block) {
      auto* box = new QCheckBox(QString::number(block), this);
      box->setAccessibleName(tr("Merge before block %1").arg(block));
      box->setToolTip(tr("Merge before block %1; takes effect at once").arg(block));
      connect(box, &QCheckBox::toggled, this, [this] {
        refresh();
        emit scheduleChanged(schedule());
      });
      grid_->addWidget(box, block / kColumns, block % kColumns);
      boxes_.push_back(box);
    }
  }
  paper_->setEnabled(info.blocks > kDefaultSchedule.back());
  none_->setEnabled(true);
  setSchedule(info.schedule);
}

void SchedulePanel::setSchedule(const Schedule& schedule) {
  for (int block = 0; block < blocks(); ++block) {
    const QSignalBlocker quiet(boxes_[block]);
    boxes_[block]->setChecked(std::find(schedule.begin(), schedule.end(), block) != schedule.end());
  }
  refresh();
}

Schedule SchedulePanel::schedule() const {
  Schedule result;
  for (int block = 0; block < blocks(); ++block)
    if (boxes_[block]->isChecked()) result.push_back(block);
  return result;
}

void SchedulePanel::choose(const Schedule& wanted) {
  const Schedule before = schedule();
  setSchedule(wanted);
  if (schedule() != before) emit scheduleChanged(schedule());
}

void SchedulePanel::refresh() {
  copy_->setEnabled(!boxes_.empty());
  none_->setEnabled(!boxes_.empty());
  if (boxes_.empty()) paper_->setEnabled(false);
  QStringList blocks;
  for (int block : schedule()) blocks << QString::number(block);
  summary_->setText(boxes_.empty()     ? tr("No model is loaded")
                    : blocks.isEmpty() ? tr("Full model: nothing is merged")
                                       : tr("Schedule %1").arg(blocks.join(QStringLiteral(", "))));
}

}  // namespace mpm::gui
