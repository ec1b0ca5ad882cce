// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/models/events_model.h"

namespace mpm::gui {

/// The list of events. A double click or Enter activates one.
QTableView* eventsTable(EventsModel* model);

}  // namespace mpm::gui
