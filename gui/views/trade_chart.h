// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QWidget>

#include "gui/controllers/tune_job.h"

namespace mpm::gui {

/// Speed against agreement of the reductions that were measured; the front is a line.
class TradeChart : public QWidget {
  Q_OBJECT
 public:
  using QWidget::QWidget;

  /// `wanted`: the agreement that was asked for, percent.
  void setResult(const TuneJob::Result& result, double wanted);
  /// The row whose point is filled.
  void setRow(int row);

  QSize sizeHint() const override { return {320, 150}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  TuneJob::Result result_;
  double wanted_ = 0;
  int row_ = -1;
};

}  // namespace mpm::gui
