// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/views/settings_dialog.h"
#include "monitor/store/export.h"

namespace mpm::gui {

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

}  // namespace mpm::gui
