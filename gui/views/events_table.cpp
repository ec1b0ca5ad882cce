// SPDX-License-Identifier: Apache-2.0
#include "gui/views/events_table.h"

#include "gui/views/labels.h"
#include "gui/views/tables.h"

namespace mpm::gui {

QTableView* eventsTable(EventsModel* model) {
  auto* table = named(new QTableView, EventsModel::tr("Events"));
  table->setModel(model);
  table->setWordWrap(false);
  makePlain(table, 6);
  table->horizontalHeader()->setStretchLastSection(true);
  table->horizontalHeader()->setResizeContentsPrecision(0);  // of 2000 events, those on show
  for (const int column : {EventsModel::kTime, EventsModel::kSeverity, EventsModel::kKind})
    table->horizontalHeader()->setSectionResizeMode(column, QHeaderView::ResizeToContents);
  return table;
}

}  // namespace mpm::gui
