// SPDX-License-Identifier: Apache-2.0
#include "gui/models/events_model.h"

#include <span>

#include "gui/models/readout.h"
#include "gui/models/theme.h"

namespace mpm::gui {
namespace {

// The text of a value of the database, which a newer version may have written.
template <typename Value>
QString textAt(Value value, std::span<const QString> texts) {
  const auto index = static_cast<std::size_t>(value);
  return index < texts.size() ? texts[index] : QStringLiteral("?");
}

}  // namespace

QString EventsModel::kindText(monitor::EventKind kind) {
  const QString texts[] = {tr("Session"),   tr("Source"),   tr("Model"),       tr("Storage"),
                           tr("Clock"),     tr("Alarm"),    tr("Alarm ended"), tr("View"),
                           tr("Reuse"),     tr("Quality"),  tr("Command"),     tr("State"),
                           tr("Heartbeat"), tr("Messages"), tr("Summary"),     tr("Damaged picture")};
  static_assert(std::size(texts) == monitor::kEventKinds);
  return textAt(kind, texts);
}

void EventsModel::setClock(const charts::OptionalClock& clock) {
  if (std::exchange(clock_, clock) != clock && rowCount() > 0)
    emit dataChanged(index(0, kTime), index(rowCount() - 1, kTime));
}

void EventsModel::add(const monitor::Event& event) {
  if (rowCount() >= kMax) {
    beginRemoveRows({}, rowCount() - 1, rowCount() - 1);
    events_.pop_back();
    endRemoveRows();
  }
  beginInsertRows({}, 0, 0);
  events_.push_front(event);
  endInsertRows();
}

void EventsModel::setEvents(const std::vector<monitor::Event>& ascending) {
  std::deque<monitor::Event> fresh(ascending.rbegin(), ascending.rend());
  if (fresh.size() > kMax) fresh.resize(kMax);
  const auto known = events_.empty() ? fresh.end() : std::find(fresh.begin(), fresh.end(), events_.front());
  if (known != fresh.end() && static_cast<std::size_t>(fresh.end() - known) <= events_.size() &&
      std::equal(known, fresh.end(), events_.begin())) {
    for (auto event = known; event != fresh.begin();) add(*--event);
    return;
  }
  beginResetModel();
  events_ = std::move(fresh);
  endResetModel();
}

QVariant EventsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const monitor::Event& event = events_[index.row()];
  const QString severities[] = {tr("Info"), tr("Warning"), tr("Error")};
  const QString severity = textAt(event.severity, severities), message = QString::fromStdString(event.message);
  if (role == Qt::AccessibleTextRole) return QStringLiteral("%1: %2").arg(severity, message);
  if (index.column() == kSeverity && event.severity != monitor::Severity::kInfo) {
    if (role == Qt::ForegroundRole) return event.severity == monitor::Severity::kError ? theme().bad : theme().warning;
    QFont font;
    font.setBold(true);
    if (role == Qt::FontRole) return font;
  }
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
  const QString texts[] = {timeText(event.time, clock_), severity, kindText(event.kind),
                           message};  // in the order of Column
  return texts[index.column()];
}

QVariant EventsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  const QString titles[] = {tr("Time"), tr("Severity"), tr("About"), tr("What happened")};
  return titles[section];
}

}  // namespace mpm::gui
