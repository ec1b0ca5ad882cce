// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/models/trainer.h"

namespace mpm::gui {

/// Says which state pictures show, trains on that, shows how often it is right, which pictures contradict each other,
/// side by side, and which it gets wrong, and puts it to use.
class StatesPanel : public QWidget {
  Q_OBJECT
 public:
  explicit StatesPanel(QWidget* parent = nullptr);

  void setPictures(const QStringList& names);
  void setThumbnail(const QString& name, const QImage& thumbnail);
  void setRegions(const QStringList& names);
  /// Shows which states pictures have by the chosen set. Until then nothing can be added to it, as it could replace
  /// examples that are not read yet.
  void setExamples(const ShownStates& shown);
  /// Shows the last verdict; null: none yet.
  void setHead(const std::shared_ptr<const evaluation::StateHead>& head);
  void setProgress(int done, int of);
  void setProblem(const QString& text);
  /// Names of the heads that are in use.
  void setInUse(const QStringList& names);
  void setSets(const QStringList& names);
  /// Chooses a set of states that looks at this region; empty: at the whole picture.
  void choose(const QString& set, const QString& region);

  /// The chosen region; empty: the whole picture.
  QString region() const { return region_->currentIndex() <= 0 ? QString() : region_->currentText(); }
  /// The name of the chosen set of states: unless one was written, that of the region, or StateTrainer::nameOfWhole().
  QString set() const { return open_; }

 signals:
  void setChosen(const QString& name);
  void examplesChanged(const mpm::gui::ShownStates& shown);
  void trainRequested();
  void picked(const QString& picture);
  /// The last verdict's head, from now on, or no longer.
  void useRequested(const std::shared_ptr<const mpm::evaluation::StateHead>& head, bool use);

 private:
  void addState(const QString& name);
  void assign(const QString& state);
  void refresh();
  void chooseSet(const QString& name);
  void addWrong(const QString& text, const QStringList& pictures);
  void showWrong(const QListWidgetItem* wrong);
  void showPairs();

  QComboBox* const region_;
  QComboBox* const set_;
  QListWidget* const pictures_;
  QLayout* const states_;
  QPushButton* const train_;
  QLabel* const verdict_;
  QListWidget* const wrong_;  // and what contradicts: each item knows its pictures, one or two
  QPushButton* const use_;
  QString open_;       // the set that is on show
  bool read_ = false;  // its examples are
  QStringList names_, in_use_;
  QHash<QString, QIcon> thumbnails_;
  QHash<QString, QPushButton*> buttons_;  // by the state
  ShownStates shown_;
  std::shared_ptr<const evaluation::StateHead> head_;
};

}  // namespace mpm::gui
