// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

namespace mpm::gui {

/// The classes that labels are drawn with: one is chosen; others are added, renamed, coloured, merged.
class LabelClassesPanel : public QWidget {
  Q_OBJECT
 public:
  explicit LabelClassesPanel(QWidget* parent = nullptr);

  /// Keeps the choice by its number; of new classes the last is chosen.
  void setClasses(const QStringList& names, const std::vector<QColor>& colors);
  /// Out of range: nothing changes.
  void choose(int index);
  int chosen() const { return list_->currentRow(); }  ///< negative: there is none

 signals:
  void chosenChanged(int index);
  void added(const QString& name);
  /// All classes of the model that runs are wanted.
  void modelClassesWanted();
  void renamed(int index, const QString& name);
  void colored(int index, const QColor& color);
  /// `from` goes; `into`: what its labels become, nullopt: not labelled.
  void merged(int from, std::optional<int> into);

 private:
  void add();
  void askColor();
  void fillMergeMenu();

  QListWidget* const list_;
  QLineEdit* const name_;
  QPushButton* const color_;
  QPushButton* const merge_;
  QPushButton* const from_model_;
  QPushButton* const rename_;
};

}  // namespace mpm::gui
