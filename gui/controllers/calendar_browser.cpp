// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/calendar_browser.h"

namespace mpm::gui {

CalendarBrowser::CalendarBrowser(HistoryBrowser* history, PictureStore* pictures, StoredMoments* stored,
                                 CalendarPanel* panel)
    : QObject(panel), history_(history), pictures_(pictures), stored_(stored), panel_(panel) {
  connect(panel, &CalendarPanel::wanted, this, &CalendarBrowser::ask);
  connect(panel, &CalendarPanel::picked, stored,
          [stored](qint64 taken) { stored->lookFor(static_cast<double>(taken) / 1000); });
  connect(&reader_, &CalendarReader::read, panel, &CalendarPanel::setAnswer);
  connect(&reader_, &CalendarReader::pictured, panel->view(), &CalendarView::setPicture);
  connect(&reader_, &CalendarReader::failed, panel, &CalendarPanel::setProblem);
  connect(history, &HistoryBrowser::sourceChanged, this, &CalendarBrowser::forget);
  connect(history, &HistoryBrowser::grown, this, [this] {
    if (stored_->hidden().json() != hidden_) return forget();
    if (panel_->isVisible() && isOld()) pictures_->list();
  });
  connect(pictures, &PictureStore::listed, this, [this] {
    const auto& days = panel_->view()->calendar().days;
    // They were not listed yet when the source came on show.
    const bool none = std::ranges::all_of(days, [](const charts::DayCell& day) { return day.picture.empty(); });
    if (none || isOld()) ask();
  });
}

void CalendarBrowser::forget() {
  reader_.giveUp();
  panel_->clear();
  ask();
}

void CalendarBrowser::ask() {
  const auto record = history_->sources()->current();
  const auto owner = history_->owner();
  const monitor::PrivacyOptions hidden = stored_->hidden();
  hidden_ = hidden.json();
  if (!panel_->isVisible() || !record || !owner || record->empty()) return;
  asked_ = steadyNow();
  CalendarQuestion question{.database = history_->history()->database(),
                            .source = *record,
                            .hidden = hidden,
                            .known = panel_->view()->drawnPictures()};
  std::ranges::copy_if(pictures_->pictures(), std::back_inserter(question.pictures),
                       [&](const StoredPicture& one) { return one.owner.sameAs(*owner); });
  panel_->choose(question);
  reader_.ask(question);
}

}  // namespace mpm::gui
