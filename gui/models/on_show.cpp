// SPDX-License-Identifier: Apache-2.0
#include "gui/models/on_show.h"

#include <utility>

#include "gui/models/viewport.h"

namespace mpm::gui {

Live* OnShow::open() {
  if (auto* const picture = std::get_if<ChosenPicture>(&shown_)) return &picture->of;
  if (auto* const stored = std::get_if<Stored>(&shown_)) return stored->behind ? &*stored->behind : nullptr;
  return std::get_if<Live>(&shown_);
}

const StoredSample* OnShow::stored() const {
  const auto* const stored = std::get_if<Stored>(&shown_);
  return stored ? &stored->sample : nullptr;
}

const ShownSource& OnShow::source() const {
  static const ShownSource none;
  if (const auto* const stored = std::get_if<Stored>(&shown_)) return stored->source;
  return live() ? live()->source : none;
}

// A stored picture says what was measured then.
QStringList OnShow::measuredRegions() const {
  if (!stored()) return regionNames(source().regions);
  QStringList names = stored()->areas.keys();
  names.removeAll(QString());
  names.sort();
  return names;
}

bool OnShow::follows(const LiveFrame& frame) const {
  const auto* const picture = std::get_if<ChosenPicture>(&shown_);
  return !picture || picture->file.toStdString() == frame.result.frame.file;
}

void OnShow::announce() {
  emit changed();
  emit bannerChanged({});
  emit sourceDescribed();
  emit frameChanged(frame());
}

void OnShow::setLive(const std::optional<Live>& live) {
  question_.reset();
  wants_last_ = false;
  shown_ = Nothing();
  if (live) shown_ = *live;
  announce();
  emit liveChanged(false);
}

void OnShow::takeFrame(const LiveFramePtr& frame) {
  Live* const source = open();
  if (!source) return;
  const bool first = !std::exchange(source->frame, frame);
  if (first) emit liveChanged(true);
  if (!stored()) emit frameChanged(frame);
}

void OnShow::choose(const QString& file) {
  if (stored() || !live()) return;
  Live of = *live();
  if (file.isEmpty())
    shown_ = std::move(of);
  else
    shown_ = ChosenPicture{std::move(of), file};
}

int OnShow::ask() {
  wants_last_ = false;
  return question_.emplace(++questions_);
}

void OnShow::show(const StoredSample& sample, const ShownSource& source) {
  std::optional<Live> behind;
  if (live()) behind = *live();
  shown_ = Stored{sample, source, std::move(behind)};
  announce();
}

bool OnShow::back() {
  question_.reset();
  wants_last_ = false;
  if (!stored()) return false;
  if (auto behind = std::get<Stored>(shown_).behind)
    shown_ = *std::move(behind);
  else
    shown_ = Nothing();
  announce();
  return true;
}

void OnShow::describe(const ShownSource& source) {
  const auto same = [&](const ShownSource& one) { return one.name == source.name; };
  const auto tell = [&](ShownSource& one) {
    if (!same(one)) return;
    one.regions = source.regions;
    one.states = source.states;
    one.classes = source.classes;
  };
  if (auto* const stored = std::get_if<Stored>(&shown_)) tell(stored->source);
  if (Live* const live = open()) tell(live->source);
  if (same(this->source())) emit sourceDescribed();
}

}  // namespace mpm::gui
