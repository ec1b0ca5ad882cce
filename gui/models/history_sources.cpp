// SPDX-License-Identifier: Apache-2.0
#include "gui/models/history_sources.h"

#include <algorithm>

namespace mpm::gui {

HistorySources::HistorySources(History* history, QObject* parent) : QObject(parent), history_(history) {
  connect(history, &History::sourcesChanged, this, &HistorySources::take);
}

std::optional<monitor::SourceRecord> HistorySources::current() const {
  const auto found = std::ranges::find_if(all_, [&](const auto& one) { return one.id == id_; });
  return found == all_.end() ? std::nullopt : std::optional(*found);
}

QString HistorySources::name() const {
  const auto record = current();
  return record ? QString::fromStdString(record->name) : QString();
}

void HistorySources::beginWith(const QString& name) {
  wanted_ = name;
  waits_ = false;
  take({});
}

void HistorySources::want(const QString& name) {
  wanted_ = name;
  waits_ = true;
  take(all_);
  history_->askSources();
}

void HistorySources::choose(std::int64_t id) {
  wanted_.clear();
  id_ = id;
  emit listed();
  emit chosen();
  emit changed();
}

void HistorySources::take(const std::vector<monitor::SourceRecord>& sources) {
  const auto before = id_;
  all_ = sources;
  const auto has = [&](const auto& is) { return std::ranges::find_if(all_, is); };
  auto found = all_.end();
  if (!wanted_.isEmpty()) found = has([&](const auto& one) { return QString::fromStdString(one.name) == wanted_; });
  // From now on the choice is the user's.
  if (found != all_.end() || (!waits_ && !all_.empty())) wanted_.clear();
  if (found == all_.end() && wanted_.isEmpty()) {  // samples of another one would be taken for those of the wanted
    found = has([&](const auto& one) { return one.id == before; });
    if (found == all_.end() && !all_.empty()) found = std::prev(all_.end());
  }
  id_ = found == all_.end() ? std::nullopt : std::optional(found->id);
  emit listed();
  if (id_ != before) emit changed();
}

void HistorySources::setPresent(const QString& source, std::optional<double> present) { present_ = {source, present}; }

bool HistorySources::ended() const {
  const auto on_show = current();
  return on_show && !on_show->empty() && (on_show->archive || (name() != present_.source && !on_show->awaited));
}

double HistorySources::present() const {
  if (ended()) return static_cast<double>(current()->last) / 1000;
  const auto now = static_cast<double>(unixNow()) / 1000;
  return name() == present_.source ? present_.time.value_or(now) : now;
}

}  // namespace mpm::gui
