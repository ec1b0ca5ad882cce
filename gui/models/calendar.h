// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "gui/models/picture_store.h"
#include "gui/models/worker.h"
#include "monitor/store/calendar.h"

namespace mpm::gui {

/// Which calendar is wanted.
struct CalendarQuestion {
  QString database{};  ///< a file
  monitor::SourceRecord source{};
  monitor::CalendarKey key{};
  monitor::DayMoment moment{};
  int year = 0;                           ///< 0: that of the last sample
  std::vector<StoredPicture> pictures{};  ///< of the source; those of an archive are its own
  monitor::PrivacyOptions hidden{};       ///< what must not be seen in them
  std::set<std::string> known{};          ///< files of pictures of days that need not be read again
};

struct CalendarAnswer {
  int year = 0;
  std::vector<int> years{};  ///< of the source, ascending
  charts::CalendarDrawing drawing{};
  QStringList classes{};                              ///< of the series whose days are coloured, the latest
  std::vector<std::pair<QString, QString>> states{};  ///< heads and their states, in this year
};

/// Reads the days of a year and the pictures that stand for them, on its own thread.
class CalendarReader : public QObject {
  Q_OBJECT
 public:
  static constexpr int kWidth = 160;  ///< px, of a picture of a day

  CalendarReader();
  ~CalendarReader() override { thread_.giveUp(); }

  /// Answers with read(), then with pictured() for each day that has a picture. Of several questions only the last is
  /// answered.
  void ask(const CalendarQuestion& question);
  /// No question is answered any more.
  void giveUp() { thread_.giveUp(); }

 signals:
  void read(const mpm::gui::CalendarAnswer& calendar);
  /// `day`: an index of CalendarDrawing::days.
  void pictured(int day, const QImage& picture);
  void failed(const QString& message);

 private:
  Worker thread_;
};

}  // namespace mpm::gui
