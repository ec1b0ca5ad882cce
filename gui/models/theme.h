// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>

#include "charts/palette.h"

namespace mpm::gui {

/// How good or bad a piece of news is.
enum class Badge { kNone, kGood, kWarning, kBad };

/// Every colour of the program. The user chooses light or dark: Qt 6.4 does not know what the desktop prefers.
struct Theme {
  bool dark = false;
  QColor window, panel, field, border;
  QColor text, muted;  ///< on window, panel and field
  QColor accent, on_accent;
  QColor good, warning, bad;  ///< states, as text on panel
  QColor canvas, on_canvas;   ///< behind pictures
  charts::ChartColors chart;  ///< what charts/ draws with, as on the page; `panel`, `text` and `muted` are its own

  QPalette palette() const;
  QString styleSheet() const;
};

Theme lightTheme();
Theme darkTheme();

/// The theme in force. UI thread only.
const Theme& theme();
void setTheme(const Theme& theme);

/// Contrast of WCAG 2.1, 1..21.
double contrast(const QColor& a, const QColor& b);
/// Black or white, whichever is read more easily on `background`.
QColor readableOn(const QColor& background);

}  // namespace mpm::gui
