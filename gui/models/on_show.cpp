// SPDX-License-Identifier: Apache-2.0
#include "gui/models/on_show.h"

#include <utility>

namespace mpm::gui {

Live* OnShow::live() {
  if (auto* const picture = std::get_if<ChosenPicture>(&shown_)) return &picture->of;
  if (auto* const stored = std::get_if<Stored>(&shown_)) return stored->behind ? &*stored->behind : nullptr;
  return std::get_if<Live>(&shown_);
}

const StoredSample* OnShow::stored() const {
  const auto* const stored = std::get_if<Stored>(&shown_);
  return stored ? &stored->sample : nullptr;
}

bool OnShow::follows(const LiveFrame& frame) const {
  const auto* const picture = std::get_if<ChosenPicture>(&shown_);
  return !picture || picture->file.toStdString() == frame.result.frame.file;
}

QString OnShow::source() const {
  if (const StoredSample* const sample = stored()) return sample->source;
  return live() ? live()->source : QString();
}

void OnShow::watch(const std::optional<Live>& live) {
  asked_.reset();
  wants_last_ = false;
  shown_ = Nothing();
  if (live) shown_ = *live;
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
  return asked_.emplace(++questions_);
}

void OnShow::show(const StoredSample& sample) {
  const Live* const watched = live();
  shown_ = Stored{sample, watched ? std::optional(*watched) : std::nullopt};
}

bool OnShow::back() {
  asked_.reset();
  wants_last_ = false;
  auto* const stored = std::get_if<Stored>(&shown_);
  if (!stored) return false;
  watch(std::optional(stored->behind));
  return true;
}

}  // namespace mpm::gui
