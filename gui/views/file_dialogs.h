// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

namespace mpm::gui {

/// A file dialog that begins in `folder` (empty: where the last one ended, or the program was started) and shows the
/// marked picture; of a folder, one of its pictures.
QFileDialog* pictureDialog(QWidget* parent, const QString& title, const QString& folder, const QString& filter = {});

/// Asks for a file that is there.
void askForFile(QWidget* parent, const QString& title, const QString& folder, const QString& filter,
                const std::function<void(const QString& file)>& chosen);

/// Asks for a file to be written. `suffix`: of a name that has none.
void askWhereToWrite(QWidget* parent, const QString& title, const QString& proposed, const QString& filter,
                     const QString& suffix, const std::function<void(const QString& file)>& chosen,
                     QFileDialog::Options options = {});

}  // namespace mpm::gui
