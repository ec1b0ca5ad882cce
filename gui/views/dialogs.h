// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/worker.h"
#include "gui/views/look.h"
#include "monitor/store/export.h"

namespace mpm::gui {

/// Fields, OK and Cancel, and a line that says why OK is refused.
class SettingsDialog : public QDialog {
  Q_OBJECT
 protected:
  SettingsDialog(const QString& title, QWidget* parent);
  /// To be called once all fields are there. `refusal`: why they cannot be accepted as they are; empty: they can.
  /// `beside`: what stands to the left of the fields. `accept`: the text of OK; empty: the usual one.
  void finish(std::function<QString()> refusal = {}, QWidget* beside = nullptr, const QString& accept = {});
  /// Asks for the refusal again.
  void check() { check_(); }

  QWidget* content_;
  QFormLayout* form_;  // of content_

 private:
  std::function<void()> check_;
};

/// Asks for the period, the format and the file of an export.
class ExportDialog : public SettingsDialog {
  Q_OBJECT
 public:
  enum class Format { kCsv, kJsonLines, kChartPng };
  /// `source`: the name shown for the source. `from`, `to`: the time the chart shows, in seconds.
  ExportDialog(const QString& source, double from, double to, QWidget* parent = nullptr);
  Format format() const { return static_cast<Format>(format_->currentIndex()); }
  /// 0 and INT64_MAX: everything.
  std::pair<UnixMs, UnixMs> span() const;
  QString suffix() const { return QStringList{"csv", "jsonl", "png"}[format_->currentIndex()]; }

 private:
  double from_, to_;
  QComboBox* format_;
  QRadioButton *shown_, *all_;
};

/// A file dialog that begins in `folder` (empty: where the program was started) and shows the marked picture; of a
/// folder, one of its pictures.
QFileDialog* pictureDialog(QWidget* parent, const QString& title, const QString& folder, const QString& filter = {});
/// Asks for a file that is there.
void askForFile(QWidget* parent, const QString& title, const QString& folder, const QString& filter,
                const std::function<void(const QString& file)>& chosen);
/// Asks for a file to be written. `suffix`: of a name that has none.
void askWhereToWrite(QWidget* parent, const QString& title, const QString& proposed, const QString& filter,
                     const QString& suffix, const std::function<void(const QString& file)>& chosen,
                     QFileDialog::Options options = {});

enum class Answer { kYes, kNo };
/// A question with these words for yes and no, and the answer to Enter; to be opened. `then`: on yes.
QMessageBox* question(QWidget* parent, const QString& title, const QString& text,
                      const std::pair<QString, QString>& answers, Answer usual, const std::function<void()>& then);

/// Says in a dialog how far a job is, and cancels it where that is asked for. Both are deleted once the job has ended.
/// `others`: such dialogs that are open already; each is seen.
void showProgress(Job* job, const QString& title, const QString& text, int others, QWidget* window);

}  // namespace mpm::gui
