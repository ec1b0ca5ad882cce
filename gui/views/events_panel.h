// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/models/events_model.h"

namespace mpm::gui {

/// The list of events. A double click or Enter asks for the time of one.
class EventsPanel : public QTableView {
  Q_OBJECT
 public:
  EventsPanel(EventsModel* model, QWidget* parent = nullptr);

 signals:
  void timePicked(double time);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void fitTimes();
};

}  // namespace mpm::gui
