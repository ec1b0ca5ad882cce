// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/stored_moments.h"
#include "gui/views/calendar_panel.h"

namespace mpm::gui {

/// Shows the calendar of the source whose history is on show, while the panel is seen, and once a minute what came
/// since. What must not be seen of it by now is not seen there either.
class CalendarBrowser : public QObject {
  Q_OBJECT
 public:
  CalendarBrowser(HistoryBrowser* history, PictureStore* pictures, StoredMoments* stored, CalendarPanel* panel);

  /// How often it looks for what came since, ms. Default: a minute.
  void setPace(std::int64_t ms) { pace_ = ms; }

 private:
  bool isOld() const { return steadyNow() - asked_ >= pace_; }
  void ask();
  void forget();

  HistoryBrowser* const history_;
  PictureStore* const pictures_;
  StoredMoments* const stored_;
  CalendarPanel* const panel_;
  CalendarReader reader_;
  std::string hidden_;                      // PrivacyOptions::json() of the pictures on show
  std::int64_t pace_ = 60'000, asked_ = 0;  // steady ms
};

}  // namespace mpm::gui
