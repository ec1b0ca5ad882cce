// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/calendar.h"
#include "gui/views/calendar_view.h"

namespace mpm::gui {

/// A year of pictures by day, with the choice of the year, of the picture that stands for a day, and of the colours.
class CalendarPanel : public QWidget {
  Q_OBJECT
 public:
  explicit CalendarPanel(QWidget* parent = nullptr);

  CalendarView* view() const { return view_; }
  void setAnswer(const CalendarAnswer& answer);
  void setProblem(const QString& text);
  /// Sets what is chosen: key, moment and year.
  void choose(CalendarQuestion& question) const;
  /// Another source is on show, whose calendar is not known yet.
  void clear();

 signals:
  /// The panel is seen, or something else was chosen.
  void wanted();
  /// When the picture of the day was taken that a person picked.
  void picked(qint64 taken);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  QComboBox* const year_;
  QComboBox* const moment_;
  QComboBox* const tint_;
  QLabel* const text_;
  CalendarView* const view_;
};

}  // namespace mpm::gui
