// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QByteArray>
#include <QString>

#include "gui/models/class_paint.h"
#include "gui/models/merge_colors.h"

class QSettings;

namespace mpm::gui {

/// How a person looks at the pictures.
struct PicturesChoice {
  ViewMode mode = ClassPaint().mode;
  double opacity = ClassPaint().opacity, curtain = ClassPaint().curtain;  ///< as of ClassPaint
  MergeColoring coloring = MergeColoring::kMean;
  bool map = true;     ///< the merge map is shown
  QByteArray split{};  ///< the room of image and map, as of QSplitter::saveState(); empty: as at first
  friend bool operator==(const PicturesChoice&, const PicturesChoice&) = default;
};

/// The end is always the present: what was looked at in the past is not what a person comes back for.
enum class ChartSpan { kHour, kDay, kWeek, kAll };

/// What the chart draws, and over how long.
struct ChartChoice {
  ChartSpan span = ChartSpan::kHour;
  bool tokens = true, merged = false, inference = true, area = false;
  QString area_class{};  ///< by name; empty: the first
  friend bool operator==(const ChartChoice&, const ChartChoice&) = default;
};

/// The same between two starts. What settings edited by hand make no sense of is the default.
void save(QSettings& settings, const PicturesChoice& choice);
void save(QSettings& settings, const ChartChoice& choice);
PicturesChoice loadPicturesChoice(const QSettings& settings);
ChartChoice loadChartChoice(const QSettings& settings);

}  // namespace mpm::gui
