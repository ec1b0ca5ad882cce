// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/stored_moments.h"

#include "gui/models/readout.h"
#include "gui/models/recents.h"

namespace mpm::gui {

StoredMoments::StoredMoments(OnShow* on_show, HistoryBrowser* history, PictureStore* pictures, Said said, bool own,
                             QObject* parent)
    : QObject(parent), on_show_(on_show), history_(history), pictures_(pictures), said_(std::move(said)), own_(own) {
  connect(history->history(), &History::sampleReady, this, &StoredMoments::takeSample);
  connect(history->history(), &History::namesReady, this, [this](const SourceNames& names) {
    if (names.name == on_show_->source().name && on_show_->source().regions.empty() && !names.current.empty())
      describeAgain();
  });
  connect(pictures, &PictureStore::loaded, this, [this](const StoredSample& picture) {
    if (on_show_->question() == picture.question) show(picture);
  });
  connect(pictures, &PictureStore::listed, this, [this] {
    // It was not listed yet when its sample was shown. One that cannot be read is not tried again and again.
    const bool missing = on_show_->stored() && !on_show_->frame() && !on_show_->wantsLast();
    if (missing && lastPicture() != tried_) loadLastPicture();
  });
  connect(history->sources(), &HistorySources::chosen, this, &StoredMoments::takeChosenSource);
  connect(history, &HistoryBrowser::sourceChanged, this, &StoredMoments::askLast);
  connect(history, &HistoryBrowser::failed, this, [this](const QString& why) {
    if (!history_->isOpen()) emit placeholderChanged(why);  // else the picture is that of the open camera
  });
}

void StoredMoments::lookFor(double time) {
  const double within = history_->nearness();
  const auto record = history_->sources()->current();
  const auto owner = history_->owner();
  const int question = on_show_->ask();
  if (record && record->archive) {  // one of its own pictures is nearer than a snapshot of another day
    history_->history()->askSample(*record, static_cast<UnixMs>(time * 1000), static_cast<UnixMs>(within * 1000),
                                   saidOfPrivacy(), question);
  } else if (const auto* picture = owner ? nearestPicture(pictures_->pictures(), *owner, time, within) : nullptr) {
    pictures_->load(picture->path, hidden(), question);
  } else {
    emit said(own_ ? tr("No picture is stored near that time. File ▸ What is kept… makes a time-lapse")
                   : tr("No picture is stored near that time"),
              Badge::kNone);
  }
}

// Picture, title, chart and events are of one source, also while its last sample is read.
void StoredMoments::beginWith(const ShownSource& source, const QString& text) {
  const StoredSample nothing{.text = text, .source = source.name, .last = true};
  on_show_->show(nothing, source);
  on_show_->setBanner(bannerOf(nothing));
  emit placeholderChanged(tr("No sample was read yet"));
}

// Choosing another source in the chart puts its last sample on show, choosing the one that is watched goes back to it.
void StoredMoments::takeChosenSource() {
  if (history_->showsOpened()) return static_cast<void>(on_show_->back());
  if (!history_->isOpen() && !on_show_->stored() && !on_show_->wantsLast()) return;
  on_show_->ask();  // an answer about the source before does not count any more
  const QString source = history_->source();
  beginWith(describe(source), sourceTitle(source));
  on_show_->wantLast();
}

// The source that is open shows its own pictures.
void StoredMoments::askLast() {
  const auto record = history_->sources()->current();
  if (record && !history_->showsOpened()) history_->history()->askLast(*record, saidOfPrivacy());
}

void StoredMoments::leave() {
  on_show_->back();
  history_->showOpened();
}

void StoredMoments::showLast() {
  leave();
  if (history_->isOpen()) return;
  on_show_->wantLast();
  askLast();
}

monitor::PrivacyChoice StoredMoments::saidOfPrivacy() const { return said_(history_->source()).privacy; }

monitor::PrivacyOptions StoredMoments::hidden() const { return saidOfPrivacy().over(history_->facts().privacy); }

QString StoredMoments::bannerOf(const StoredSample& sample) const {
  const bool open = history_->isOpen();
  if (sample.last) return open ? tr("%1. Esc: back to live").arg(sample.text) : sample.text;
  const QString when = timeText(sample.time, on_show_->source().clock);
  return open ? tr("Stored picture of %1. Esc: back to live").arg(when)
              : tr("Stored picture of %1. Esc: back").arg(when);
}

ShownSource StoredMoments::describe(const QString& source) const {
  ShownSource shown{.name = source};
  if (own_) {
    SaidOfSource said = said_(source);
    shown.clock = said.clock;
    shown.regions = std::move(said.regions);
    shown.states = std::move(said.states);
  }
  if (source != history_->source()) return shown;
  if (const auto record = history_->sources()->current()) shown.clock = record->clock;
  if (own_) return shown;
  shown.regions = history_->facts().regions;
  shown.classes = history_->facts().classes;
  return shown;
}

void StoredMoments::describeAgain() {
  if (on_show_->stored() && !on_show_->source().name.isEmpty()) on_show_->describe(describe(on_show_->source().name));
}

void StoredMoments::show(const StoredSample& sample) {
  on_show_->show(sample, describe(sample.source));
  on_show_->setBanner(bannerOf(sample));
}

// The last sample of a database that was opened, or of a source that a person chose in the chart, is on show until they
// go back.
void StoredMoments::takeSample(const StoredSample& sample) {
  if (!sample.last && on_show_->question() != sample.question) return;
  if (!sample.last && !sample.frame) {
    return emit said(sample.time == 0 ? tr("No picture is stored near that time")
                                      : tr("There is no picture near that time any more"),
                     Badge::kNone);
  }
  if (!sample.last) return show(sample);
  // Another source may have been chosen while this one was read.
  if (!on_show_->wantsLast() || sample.text.isEmpty() || sample.source != history_->source()) return;
  show(sample);
  if (!sample.frame) loadLastPicture();
}

QString StoredMoments::lastPicture() const {
  const auto owner = history_->owner();
  const auto record = history_->sources()->current();
  return owner && record ? pictures_->lastOf(*owner, record->end) : QString();
}

void StoredMoments::loadLastPicture() {
  const int question = on_show_->ask();
  tried_ = lastPicture();
  if (!tried_.isEmpty()) return pictures_->load(tried_, hidden(), question);
  emit placeholderChanged(tr("The picture of this sample is not stored"));
}

}  // namespace mpm::gui
