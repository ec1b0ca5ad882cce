// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "charts/chart.h"
#include "gui/models/label_store.h"

namespace mpm::gui {

/// All labels: a row for each picture and class. A click or Enter goes there, Delete removes them.
class LabelTablePanel : public QWidget {
  Q_OBJECT
 public:
  explicit LabelTablePanel(QWidget* parent = nullptr);

  /// `clock`: of the camera, by which the times in the names of pictures are shown.
  void setLabels(const std::vector<LabelCount>& counts, const QStringList& names, const std::vector<QColor>& colors,
                 const charts::OptionalClock& clock);

 signals:
  void picked(const QString& picture, int label);
  void removeRequested(const QString& picture, int label);

 private:
  void remove();

  QTableWidget* const table_;
  QLabel* const none_;
  QPushButton* const remove_;
  std::vector<LabelCount> counts_;
  QStringList names_;
  std::vector<QColor> colors_;
  QString zone_;  // of the clock; empty: that of the machine
};

}  // namespace mpm::gui
