// SPDX-License-Identifier: Apache-2.0
#pragma once

class QWidget;

namespace mpm::gui {

/// Says what this program is and what it was built with.
void showAbout(QWidget* parent);

}  // namespace mpm::gui
