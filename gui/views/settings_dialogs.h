// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/models/watch_settings.h"
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

/// What counts as night.
class NightDialog : public SettingsDialog {
  Q_OBJECT
 public:
  /// `numbers`: of the rules that `rule` is not.
  NightDialog(const monitor::NightRule& rule, const NightNumbers& numbers, QWidget* parent = nullptr);
  monitor::NightRule rule() const;

 signals:
  void chosen(const mpm::monitor::NightRule& rule);

 private:
  QRadioButton *sun_, *brightness_, *hours_, *none_;
  QDoubleSpinBox *latitude_, *longitude_, *elevation_;
  QSpinBox *dark_, *bright_;
  QTimeEdit *from_, *to_;
};

/// When to ring.
class AlarmsDialog : public SettingsDialog {
  Q_OBJECT
 public:
  /// `command`: see command().
  AlarmsDialog(const monitor::AlarmOptions& options, const QStringList& classes, const QString& command = {},
               QWidget* parent = nullptr);
  monitor::AlarmOptions options() const;
  /// What is run for each event, as monitor::parseCommand() takes it; empty: nothing.
  QString command() const;

 signals:
  void chosen(const mpm::monitor::AlarmOptions& options);

 private:
  QCheckBox *no_frame_, *below_, *above_, *area_;
  QSpinBox *seconds_, *fewest_, *most_;
  QDoubleSpinBox *minutes_, *share_;
  QComboBox *class_, *side_;
  QLineEdit* command_;
};

/// What to export, and how.
class ExportDialog : public QDialog {
  Q_OBJECT
 public:
  enum class Format { kCsv, kPhenoCam, kJsonLines, kChartPng };
  /// `source`: the name shown for the source. `from`, `to`: the time the chart shows, in seconds.
  ExportDialog(const QString& source, double from, double to, QWidget* parent = nullptr);
  Format format() const;
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

/// What is stored, and for how long.
class KeepDialog : public SettingsDialog {
  Q_OBJECT
 public:
  /// Shows where pictures and samples are. Without a database the fields about samples are disabled.
  KeepDialog(const KeepOptions& options, const QString& folder, const QString& database, QWidget* parent = nullptr);
  KeepOptions options() const;

 signals:
  void chosen(const mpm::gui::KeepOptions& options);

 private:
  struct Field {
    double KeepOptions::*value;
    QCheckBox* on;
    QDoubleSpinBox* number;
  };
  std::vector<Field> fields_;
};

}  // namespace mpm::gui
