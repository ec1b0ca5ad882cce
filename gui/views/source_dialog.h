// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFileDialog>
#include <memory>

#include "gui/models/recents.h"

class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;
class QStackedWidget;

namespace mpm::gui {

/// Chooses a source, and tries it before it is opened.
class SourceDialog : public QDialog {
  Q_OBJECT
 public:
  explicit SourceDialog(vision::SourceKind kind, QWidget* parent = nullptr);
  ~SourceDialog() override;

  void setSource(const QString& source);
  /// As vision::openSource() takes it, with credentials.
  QString source() const;
  QString resultText() const;
  bool hasThumbnail() const;
  void test();

 signals:
  void chosen(const QString& source);
  void tested(bool ok);

 private:
  QLineEdit* pathField(QFormLayout* form, const QString& name, QFileDialog::FileMode mode);
  void refresh();

  QListWidget* kinds_;
  QStackedWidget* pages_;
  QComboBox* camera_;
  QLineEdit *video_, *folder_, *address_, *user_, *password_, *pipeline_;
  QLabel *result_, *thumbnail_;
  QPushButton *test_, *open_;
  // Shared with the thread that tries the source: it may hang, and may outlive the dialog.
  struct Trial;
  std::shared_ptr<Trial> trial_;
};

}  // namespace mpm::gui
