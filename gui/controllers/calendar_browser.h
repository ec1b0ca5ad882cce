// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/stored_moments.h"
#include "gui/views/calendar_panel.h"

namespace mpm::gui {

/// Shows the calendar of the source whose history is on show, while the panel is seen. What must not be seen of it by
/// now is not seen there either.
class CalendarBrowser : public QObject {
  Q_OBJECT
 public:
  CalendarBrowser(HistoryBrowser* history, PictureStore* pictures, StoredMoments* stored, CalendarPanel* panel);

 private:
  void ask();
  void forget();

  HistoryBrowser* const history_;
  PictureStore* const pictures_;
  StoredMoments* const stored_;
  CalendarPanel* const panel_;
  CalendarReader reader_;
  std::string hidden_;  // PrivacyOptions::json() of the pictures on show
};

}  // namespace mpm::gui
