// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>

namespace mpm::gui {

/// "12.5 s", "3 min 20 s", "2 h 05 min", "4 d 3 h".
QString spanText(double seconds);

}  // namespace mpm::gui
