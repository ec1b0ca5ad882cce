// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/models/legend_model.h"
#include "gui/models/live_frame.h"

namespace mpm::gui {

/// The legend of the colours over the image: the classes with a search field, the segments, or the scale of depths.
class LegendPanel : public QWidget {
  Q_OBJECT
 public:
  LegendPanel(LegendModel* model, QWidget* parent = nullptr);

  /// The task decides which of the three is shown.
  void setModel(const ModelInfo& model);
  /// Null: no frame.
  void setFrame(const LiveFramePtr& frame);

  /// Offers the areas within each of these; none: of the whole picture only.
  void setRegions(const QStringList& names);
  /// The one whose areas are wanted; empty: the whole picture.
  QString region() const { return regions_->currentData().toString(); }

 signals:
  void regionPicked();

 private:
  QWidget* makeClasses();
  QWidget* makeSegments();
  QWidget* makeDepths();
  void fillSegments();
  void editColor(const QModelIndex& index);
  void showMenu(const QPoint& at);

  LegendModel* const model_;
  QTableView* const table_;
  QComboBox* const regions_;
  QTableWidget* const segment_table_;
  QLabel* const low_;
  QLabel* const high_;
  QLabel* const unit_;
  QStackedWidget* const pages_;
  std::vector<Segment> segments_;
  std::size_t pixels_ = 0;
};

}  // namespace mpm::gui
