// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/views/dialogs.h"
#include "monitor/watch/watch.h"

namespace mpm::gui {

/// Rows of a form for fields of a watch, made of what monitor::watchFields() says of each.
class WatchRows {
 public:
  using Fields = std::vector<const monitor::WatchField*>;

  WatchRows(QFormLayout* form, const monitor::Watch& watch, const Fields& fields);
  /// The watch as it was given, with what the rows say.
  monitor::Watch watch() const;

  /// Those under a heading that have a label.
  static Fields under(const char* group);

 private:
  monitor::Watch watch_;
  std::vector<std::function<void(monitor::Watch&)>> takes_;  // what a row says
};

/// The fields of a watch under one heading. What makes no sense is refused.
class WatchDialog : public SettingsDialog {
  Q_OBJECT
 public:
  /// `notes`: what else is to be known, a line each.
  WatchDialog(const QString& title, const char* group, const monitor::Watch& watch, const QStringList& notes = {},
              QWidget* parent = nullptr);
  monitor::Watch watch() const { return rows_.watch(); }

 signals:
  void chosen(const mpm::monitor::Watch& watch);

 private:
  void addTest();

  WatchRows rows_;
};

}  // namespace mpm::gui
