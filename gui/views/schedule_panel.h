// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QWidget>
#include <vector>

#include "mpm/model_info.hpp"

class QCheckBox;
class QGridLayout;
class QLabel;
class QPushButton;

namespace mpm::gui {

/// One check box per encoder block: tokens are merged before the checked ones. None: the full model.
class SchedulePanel : public QWidget {
  Q_OBJECT
 public:
  explicit SchedulePanel(QWidget* parent = nullptr);

  /// Shows the schedule of the model; of another reduction its spec, and no block.
  void setModel(const ModelInfo& info);
  void setSchedule(const Schedule& schedule);
  Schedule schedule() const;
  QCheckBox* box(int block) const { return boxes_[block]; }
  int blocks() const { return static_cast<int>(boxes_.size()); }

 signals:
  void scheduleChanged(const mpm::Schedule& schedule);
  void copyRequested();

 private:
  void refresh();
  void choose(const Schedule& schedule);

  QGridLayout* grid_;
  QLabel* summary_;
  QString reduction_;  ///< of the model, when it is no schedule and nothing was chosen since
  QPushButton *paper_, *none_, *copy_;
  std::vector<QCheckBox*> boxes_;
};

}  // namespace mpm::gui
