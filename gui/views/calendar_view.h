// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "charts/calendar.h"

namespace mpm::gui {

/// The days of a calendar, each with its picture over its colour. A click, or the arrow keys and Enter, pick a day.
class CalendarView : public QWidget {
  Q_OBJECT
 public:
  explicit CalendarView(QWidget* parent = nullptr);

  /// Days whose picture is the same file keep it, others have none until setPicture(). The day with the mark keeps
  /// that. The colours of the drawing are those of the theme.
  void setCalendar(charts::CalendarDrawing calendar);
  /// Of a day, by its index.
  void setPicture(int day, const QImage& picture);
  /// The files (DayCell::picture) of the pictures that are drawn.
  std::set<std::string> drawnPictures() const;
  const charts::CalendarDrawing& calendar() const { return calendar_; }
  /// "Mon 1 Jun 2026: 45.2 %, picture of 12:01"; empty for no day of the calendar.
  QString textOf(int day) const;
  /// Where a day lies.
  QRectF placeOf(int day) const;

 signals:
  /// A day with a picture: when that was taken.
  void picked(qint64 taken);
  /// This day has the mark.
  void marked(int day);

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  int dayAt(QPointF at) const;
  int sameWeekday(int weeks) const;
  void mark(int day);
  void pick(int day);
  void arrange();

  charts::CalendarDrawing calendar_;
  charts::CalendarLayout layout_;
  std::map<int, QImage> pictures_;  // by day
  int marked_ = -1;
};

}  // namespace mpm::gui
