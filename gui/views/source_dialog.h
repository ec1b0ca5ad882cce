// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/models/recents.h"
#include "vision/sources/source_reader.h"

namespace mpm::gui {

/// Chooses a source, and tries it before it is opened.
class SourceDialog : public QDialog {
  Q_OBJECT
 public:
  explicit SourceDialog(vision::SourceKind kind, QWidget* parent = nullptr);

  /// Shows its kind, with what it is.
  void setSource(const QString& source);
  /// Takes the sources that were watched before, the last first: each kind of source begins with the last of its kind.
  void setKnown(const QStringList& sources);
  /// As vision::openSource() takes it, with credentials.
  QString source() const;
  void test();

 signals:
  void chosen(const QString& source);
  void tested(bool ok);

 private:
  QLineEdit* pathField(QFormLayout* form, const QString& name, QFileDialog::FileMode mode);
  int fillIn(const QString& source);
  void refresh();
  void lookAtTrial();
  void showTested(const QPixmap& thumbnail, const QString& message);

  QListWidget* const kinds_;
  QLineEdit* const user_;
  QLineEdit* const password_;
  QStackedWidget* const pages_;
  QComboBox* const camera_;
  QPushButton* const test_;
  QLabel* const result_;
  QLabel* const thumbnail_;
  QPushButton* const open_;
  std::map<vision::SourceKind, QLineEdit*> edits_;  // what the source is
  std::optional<vision::SourceReader> trial_;       // while a source is tested
  QTimer look_;
  QElapsedTimer waiting_;
};

}  // namespace mpm::gui
