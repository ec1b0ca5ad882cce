// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "evaluation/tuning.h"
#include "gui/views/image_view.h"

namespace mpm::gui {

class TradeChart;

/// Asks what the search for a reduction needs, and shows its progress and what it found.
class TuneDialog : public QDialog {
  Q_OBJECT
 public:
  using Result = std::shared_ptr<const evaluation::TuneResult>;
  /// In the `example` labels of a result: the full model says something else there. No model has so many classes.
  static constexpr int kDiffers = 255;
  struct Choice {
    bool stored = false;    ///< the stored pictures; false: the next frames of the source
    int pictures = 40;      ///< at most
    double every_s = 2;     ///< between two frames
    double agreement = 99;  ///< percent
  };

  /// `stored`: pictures of the source that are stored. `next_every_s`: what is proposed between two frames.
  TuneDialog(int stored, double next_every_s, const ClassPaint& paint, QWidget* parent = nullptr);

  Choice choice() const { return {stored_->isChecked(), count_->value(), every_->value(), agreement_->value()}; }
  /// Pictures are being collected: so many of that many.
  void showCollecting(int pictures, int wanted);
  void showMeasuring();
  void showProgress(int done, int estimate);
  void showResult(const Result& result);
  /// Back to the question.
  void showProblem(const QString& message);

 signals:
  void startRequested();
  void used(const mpm::Reduction& variant);

 private:
  QWidget* makeQuestion(int stored, double next_every_s);
  QWidget* makeProgress();
  QWidget* makeResult(const ClassPaint& paint);
  void showPage(int page);
  void showRow();

  QStackedWidget* pages_;
  QRadioButton *next_, *stored_;
  QSpinBox* count_;
  QDoubleSpinBox *every_, *agreement_;
  QLabel *problem_, *doing_, *left_, *explanation_, *row_text_;
  QProgressBar* bar_;
  QTableWidget* table_;
  TradeChart* chart_;
  PatchSelection pointed_at_;  // in either picture
  ImageView *before_, *after_;
  QPushButton *start_, *use_, *close_;
  Result result_;
  qint64 started_ = 0;  // ms, steady
};

}  // namespace mpm::gui
