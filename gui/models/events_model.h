// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtCore>
#include <algorithm>
#include <deque>
#include <functional>

#include "charts/chart.h"
#include "monitor/store/sample.h"

namespace mpm::gui {

/// The list of events, newest first.
class EventsModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { kTime, kSeverity, kKind, kMessage, kColumns };
  static constexpr int kMax = 2000;

  using QAbstractTableModel::QAbstractTableModel;

  void setClock(const charts::OptionalClock& clock);
  void add(const monitor::Event& event);
  /// Adds what is new where the rest is the same, so that the list keeps its place; else replaces all of it.
  void setEvents(const std::vector<monitor::Event>& ascending);
  const monitor::Event& eventAt(int row) const { return events_[row]; }
  /// Whether this is so of one of them.
  bool has(const std::function<bool(const monitor::Event&)>& is) const { return std::ranges::any_of(events_, is); }

  int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(events_.size());
  }
  int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : kColumns; }
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  static QString kindText(monitor::EventKind kind);

  std::deque<monitor::Event> events_;
  charts::OptionalClock clock_{};
};

}  // namespace mpm::gui
