// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

namespace mpm::gui {

/// A table without a grid and row numbers, whose columns and rows follow the font: a row is a line of text and `air`
/// px.
void makePlain(QTableView* table, int air);

/// Such a table with these titles, which nobody writes into. Its first column takes what the others leave.
QTableWidget* plainTable(const QString& name, const QStringList& titles, int air);

/// The texts of a row; those from column `numbers` on stand to the right.
void setRow(QTableWidget* table, int row, const QStringList& texts, int numbers);

}  // namespace mpm::gui
