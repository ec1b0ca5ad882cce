// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/label_store.h"
#include "gui/views/look.h"

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

  QListWidget* list_;
  QLineEdit* name_;
  QPushButton *rename_, *color_, *merge_, *from_model_;
};

/// The pictures that are labelled; one is on show. Others come from the live source or from files.
class LabelPicturesPanel : public QWidget {
  Q_OBJECT
 public:
  explicit LabelPicturesPanel(QWidget* parent = nullptr);

  void setPictures(const QStringList& names, const QStringList& labelled);
  void setThumbnail(const QString& name, const QImage& thumbnail);
  /// How far the labels are from a good start. `rare`: names of the classes in too few pictures.
  void setProgress(const vision::LabelProgress& progress, const QStringList& rare);
  /// Shows these files as pictures to label next; empty: none. `note`: why, below them.
  void setSuggestions(const QStringList& files, const QString& note);
  /// Marks the picture on show; empty: none is.
  void showAs(const QString& name);
  /// By `step` further in the list.
  void move(int step);
  /// In which file dialogs begin.
  void setFolder(const QString& folder) { folder_ = folder; }
  /// There is a frame to take.
  void setLive(bool live) { take_->setEnabled(live); }

 signals:
  void picked(const QString& name);
  void takeRequested();
  void suggestRequested();
  void filesChosen(const QStringList& files);
  void importChosen(const QString& folder);
  /// The labels of this picture are wanted in the one on show.
  void copyRequested(const QString& name);
  void removeRequested(const QString& name);

 private:
  void askForFolder(const QString& title, void (LabelPicturesPanel::*chosen)(const QString&));
  void fillCopyMenu();

  QString folder_;
  QListWidget* list_;
  QLabel *checklist_, *note_;
  QPushButton *take_, *copy_, *remove_, *suggest_;
  QStringList labelled_;
  QHash<QString, QIcon> thumbnails_;
  QLayout* suggestions_;
};

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

  QTableWidget* table_;
  QLabel* none_;
  QPushButton* remove_;
  std::vector<LabelCount> counts_;
  QStringList names_;
  std::vector<QColor> colors_;
};

}  // namespace mpm::gui
