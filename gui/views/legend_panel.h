// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QWidget>

#include "gui/models/legend_model.h"

class QLineEdit;
class QTableView;

namespace mpm::gui {

/// The table of classes with its search field.
class LegendPanel : public QWidget {
  Q_OBJECT
 public:
  LegendPanel(LegendModel* model, QWidget* parent = nullptr);

  QTableView* table() const { return table_; }
  QLineEdit* search() const { return search_; }

 private:
  void editColor(const QModelIndex& index);
  void showMenu(const QPoint& at);

  LegendModel* model_;
  QTableView* table_;
  QLineEdit* search_;
};

}  // namespace mpm::gui
