// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/models/label_store.h"

namespace mpm::gui {

/// All labels: a row for each picture and class. A click or Enter goes there, Delete removes them.
class LabelTablePanel : public QWidget {
  Q_OBJECT
 public:
  explicit LabelTablePanel(QWidget* parent = nullptr);

  void setLabels(const std::vector<LabelCount>& counts, const QStringList& names, const std::vector<QColor>& colors);

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
};

}  // namespace mpm::gui
