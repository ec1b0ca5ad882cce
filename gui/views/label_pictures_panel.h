// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "vision/labels/label_progress.h"

namespace mpm::gui {

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
  void askToRemove();

  QString folder_;
  QListWidget* const list_;
  QLabel* const checklist_;
  QPushButton* const take_;
  QPushButton* const copy_;
  QPushButton* const remove_;
  QPushButton* const suggest_;
  QLayout* const suggestions_;
  QLabel* const note_;
  QStringList labelled_;
  QHash<QString, QIcon> thumbnails_;
};

}  // namespace mpm::gui
