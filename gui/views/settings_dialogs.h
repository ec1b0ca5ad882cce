// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "monitor/store/export.h"

namespace mpm::gui {

/// Fields, OK and Cancel, and a line that says why OK is refused.
class SettingsDialog : public QDialog {
  Q_OBJECT
 protected:
  SettingsDialog(const QString& title, QWidget* parent);
  /// To be called once all fields are there. `refusal`: why they cannot be accepted as they are; empty: they can.
  /// `beside`: what stands to the left of the fields.
  void finish(std::function<QString()> refusal = {}, QWidget* beside = nullptr);
  /// Asks for the refusal again.
  void check() { check_(); }

  QWidget* content_;
  QFormLayout* form_;  // of content_

 private:
  std::function<void()> check_;
};

/// Asks for the period, the format and the file of an export.
class ExportDialog : public QDialog {
  Q_OBJECT
 public:
  enum class Format { kCsv, kJsonLines, kChartPng };
  /// `source`: the name shown for the source. `from`, `to`: the time the chart shows, in seconds.
  ExportDialog(const QString& source, double from, double to, QWidget* parent = nullptr);
  Format format() const { return static_cast<Format>(format_->currentIndex()); }
  /// 0 and INT64_MAX: everything.
  std::pair<UnixMs, UnixMs> span() const;
  QString suffix() const;

 signals:
  void chosen();

 private:
  double from_, to_;
  QComboBox* format_;
  QRadioButton *shown_, *all_;
};

}  // namespace mpm::gui
