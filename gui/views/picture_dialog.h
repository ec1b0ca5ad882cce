// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

namespace mpm::gui {

/// A file dialog that begins in `folder` (empty: where the program was started) and shows the marked picture; of a
/// folder, one of its pictures.
QFileDialog* pictureDialog(QWidget* parent, const QString& title, const QString& folder, const QString& filter = {});

}  // namespace mpm::gui
