// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QStringList>
#include <QWidget>

class QLabel;
class QListWidget;
class QPushButton;

namespace mpm::gui {

/// The pictures that are labelled; one is on show. Others come from the live source or from files.
class LabelPicturesPanel : public QWidget {
  Q_OBJECT
 public:
  explicit LabelPicturesPanel(QWidget* parent = nullptr);

  void setPictures(const QStringList& names, const QStringList& labelled);
  /// Marks the picture on show; empty: none is.
  void showAs(const QString& name);
  /// By `step` further in the list.
  void move(int step);
  /// There is a frame to take.
  void setLive(bool live);

 signals:
  void picked(const QString& name);
  void takeRequested();
  void filesChosen(const QStringList& files);
  void importChosen(const QString& folder);
  void removeRequested(const QString& name);

 private:
  void askForFiles();
  void askForFolder();
  void askToRemove();

  QListWidget* list_;
  QLabel* count_;
  QPushButton *take_, *remove_;
};

}  // namespace mpm::gui
