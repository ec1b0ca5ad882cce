// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "evaluation/tuning.h"
#include "gui/views/questions.h"

namespace mpm::gui {

/// "Tune for this camera": how far the measurement is, then its table with the choice.
class TuneDialog : public QDialog {
  Q_OBJECT
 public:
  using Rows = std::shared_ptr<const std::vector<evaluation::TuneRow>>;

  explicit TuneDialog(QWidget* parent = nullptr);

  /// Pictures are being collected: so many of that many.
  void showCollecting(int pictures, int wanted);
  void showProgress(int done, int all);
  void showRows(const Rows& rows);
  void showProblem(const QString& message);

 signals:
  void used(const mpm::Reduction& variant);

 private:
  void choose();

  QLabel* text_;
  QProgressBar* bar_;
  QWidget* result_;
  QDoubleSpinBox* agreement_;
  QTableWidget* table_;
  QPushButton *use_, *close_;
  Rows rows_;
};

}  // namespace mpm::gui
