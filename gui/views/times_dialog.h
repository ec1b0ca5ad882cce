// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/models/worker.h"
#include "gui/views/settings_dialogs.h"
#include "vision/sources/source_spec.h"

namespace mpm::gui {

/// How the times of the pictures of a folder are read. Shows what three of them say.
class TimesDialog : public SettingsDialog {
  Q_OBJECT
 public:
  /// `times`: as it was chosen before.
  TimesDialog(const vision::SourceSpec& source, const PictureTimesChoice& times, QWidget* parent = nullptr);
  PictureTimesChoice times() const;

 signals:
  void chosen(const mpm::gui::PictureTimesChoice& times);
  void looked();

 private:
  void look();
  void show(int version, const QString& text, bool any);

  vision::SourceSpec source_;
  QComboBox* from_;
  QLineEdit *list_, *zone_;
  QLabel* found_;
  bool touched_ = false;  // somebody chose
  std::atomic<int> version_ = 0;
  Worker thread_;
};

}  // namespace mpm::gui
