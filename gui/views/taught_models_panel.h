// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/label_store.h"
#include "gui/views/labels.h"

namespace mpm::gui {

/// Trains a model on the labels, shows what its cross-validation says, and puts it to use.
class TaughtModelsPanel : public QWidget {
  Q_OBJECT
 public:
  explicit TaughtModelsPanel(QWidget* parent = nullptr);

  /// `models`: newest first. The one that was on show stays, unless there is a newer one.
  void setModels(const std::vector<TaughtModel>& models);
  /// The version on show; empty: there is none.
  QString chosen() const { return choice_->currentData().toString(); }
  /// The model that runs, and the one before it; empty: there was none.
  void setInUse(const QString& running, const QString& before);
  void setTraining(bool on);
  void setProgress(int done, int of);
  /// Why the last training made no model; empty: it did.
  void setProblem(const QString& text) { showValue(problem_, text); }

 signals:
  void trainRequested();
  void cancelRequested();
  void useRequested(const QString& model);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void showModel();
  void refresh();

  QPushButton* const train_;
  QPushButton* const cancel_;
  QProgressBar* const progress_;
  QLabel* const left_;
  QLabel* const problem_;
  QComboBox* const choice_;
  QLabel* const summary_;
  QTableWidget* const table_;
  QPushButton* const use_;
  QPushButton* const back_;
  std::vector<TaughtModel> models_;
  QString running_, before_;
  QElapsedTimer time_;  // of the training
};

}  // namespace mpm::gui
