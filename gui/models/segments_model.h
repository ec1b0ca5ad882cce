// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "gui/models/legend_model.h"
#include "mpm/estimator.hpp"

namespace mpm::gui {

/// The segments of a frame with their class, score and share of the picture; the largest first.
class SegmentsModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { kName, kScore, kArea, kColumns };

  /// `legend`: names and colours of the classes.
  explicit SegmentsModel(const LegendModel* legend, QObject* parent = nullptr);

  /// `pixels`: of the picture.
  void setSegments(std::vector<Segment> segments, std::size_t pixels);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  const LegendModel* legend_;
  std::vector<Segment> segments_;
  std::size_t pixels_ = 1;
};

}  // namespace mpm::gui
