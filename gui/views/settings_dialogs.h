// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QDialog>

#include "monitor/alarms.h"
#include "monitor/day_night.h"
#include "monitor/export.h"

class QCheckBox;
class QComboBox;
class QDateTimeEdit;
class QDoubleSpinBox;
class QRadioButton;
class QSpinBox;
class QTimeEdit;

namespace mpm {

/// What counts as night.
class NightDialog : public QDialog {
  Q_OBJECT
 public:
  NightDialog(const monitor::NightRule& rule, QWidget* parent = nullptr);
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
class AlarmsDialog : public QDialog {
  Q_OBJECT
 public:
  AlarmsDialog(const monitor::AlarmOptions& options, const QStringList& classes, QWidget* parent = nullptr);
  monitor::AlarmOptions options() const;

 signals:
  void chosen(const mpm::monitor::AlarmOptions& options);

 private:
  QCheckBox *no_frame_, *below_, *above_, *area_;
  QSpinBox *seconds_, *fewest_, *most_;
  QDoubleSpinBox *minutes_, *share_;
  QComboBox *class_, *side_;
};

/// What to export, and how.
class ExportDialog : public QDialog {
  Q_OBJECT
 public:
  enum class Format { kCsv, kPhenoCam, kJsonLines, kChartPng };
  /// `from`, `to`: of the chart on show, in seconds.
  ExportDialog(double from, double to, QWidget* parent = nullptr);
  Format format() const;
  /// 0 and INT64_MAX: everything.
  std::pair<monitor::UnixMs, monitor::UnixMs> span() const;
  QString suffix() const;
  void setFormat(Format format);

 signals:
  void chosen();

 private:
  double from_, to_;
  QComboBox* format_;
  QRadioButton *shown_, *all_;
};

/// Time-lapse, recording and retention of pictures.
struct PictureOptions {
  double lapse_minutes = 0;  ///< 0: no time-lapse
  double keep_days = 0;      ///< 0: for ever
  double free_mb = 500;      ///< never fill the disk beyond this; 0: do not look
};
class PictureDialog : public QDialog {
  Q_OBJECT
 public:
  PictureDialog(const PictureOptions& options, const QString& folder, QWidget* parent = nullptr);
  PictureOptions options() const;

 signals:
  void chosen(const mpm::PictureOptions& options);

 private:
  QCheckBox *lapse_, *keep_, *free_;
  QDoubleSpinBox *minutes_, *days_, *megabytes_;
};

}  // namespace mpm
