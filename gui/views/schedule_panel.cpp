// SPDX-License-Identifier: Apache-2.0
#include "gui/views/schedule_panel.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <algorithm>
#include <utility>

#include "gui/views/look.h"

namespace mpm::gui {

SchedulePanel::SchedulePanel(QWidget* parent) : QWidget(parent) {
  summary_ = wrapped(new QLabel);
  grid_ = new QGridLayout;
  grid_->setHorizontalSpacing(10);
  grid_->setVerticalSpacing(4);
  paper_ = new QPushButton(tr("Paper: 2, 5"));
  paper_->setToolTip(tr("Merge before blocks 2 and 5, the schedule of the paper"));
  none_ = new QPushButton(tr("Full model"));
  none_->setToolTip(tr("No merging at all"));
  copy_ = new QPushButton(tr("Copy as command line"));
  copy_->setToolTip(tr("The command that watches this source with this model and schedule without a window"));

  panelColumn(this, mutedLabel(tr("Merge tokens before block")), grid_, summary_, leftRow(paper_, none_), copy_);
  connect(paper_, &QPushButton::clicked, this, [this] { choose(kDefaultSchedule); });
  connect(none_, &QPushButton::clicked, this, [this] { choose({}); });
  connect(copy_, &QPushButton::clicked, this, &SchedulePanel::copyRequested);
  refresh();
}

void SchedulePanel::setModel(const ModelInfo& info) {
  if (static_cast<int>(boxes_.size()) != info.blocks) {
    qDeleteAll(std::exchange(boxes_, {}));
    constexpr int kColumns = 4;
    for (int block = 0; block < info.blocks; ++block) {
      auto* box = new QCheckBox(QString::number(block), this);
      box->setAccessibleName(tr("Merge before block %1").arg(block));
      box->setToolTip(tr("Merge before block %1; takes effect at once").arg(block));
      connect(box, &QCheckBox::toggled, this, [this] {
        reduction_.clear();
        refresh();
        emit scheduleChanged(schedule());
      });
      grid_->addWidget(box, block / kColumns, block % kColumns);
      boxes_.push_back(box);
    }
  }
  const bool by_blocks = info.reduction.isSchedule();
  setSchedule(by_blocks ? info.schedule : Schedule());
  if (by_blocks) return;
  reduction_ = QString::fromStdString(toString(info.reduction));
  refresh();
}

void SchedulePanel::setSchedule(const Schedule& schedule) {
  reduction_.clear();
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
  const bool replaces = !reduction_.isEmpty();
  setSchedule(wanted);
  if (schedule() != before || replaces) emit scheduleChanged(schedule());
}

void SchedulePanel::refresh() {
  for (QPushButton* button : {copy_, none_}) button->setEnabled(!boxes_.empty());
  paper_->setEnabled(blocks() > kDefaultSchedule.back());
  QStringList checked;
  for (int block : schedule()) checked << QString::number(block);
  summary_->setText(boxes_.empty()          ? tr("No model is loaded")
                    : !reduction_.isEmpty() ? reduction_
                    : checked.isEmpty()     ? tr("Full model: nothing is merged")
                                            : tr("Schedule %1").arg(checked.join(QStringLiteral(", "))));
}

}  // namespace mpm::gui
