// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QAbstractTableModel>
#include <deque>

#include "monitor/store/event.h"

namespace mpm::gui {

/// What happened, newest first.
class EventsModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { kTime, kSeverity, kKind, kMessage, kColumns };
  static constexpr int kMost = 2000;

  using QAbstractTableModel::QAbstractTableModel;

  void add(const monitor::Event& event);
  /// Where only newer ones are added to those at hand, the rest of the list stays as it is.
  void setEvents(const std::vector<monitor::Event>& ascending);
  const monitor::Event& eventAt(int row) const { return events_[row]; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::deque<monitor::Event> events_;
};

}  // namespace mpm::gui
