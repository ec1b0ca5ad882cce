// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>

#include "vision/regions/region.h"

namespace mpm::gui {

/// A region as it is drawn over a picture of any size.
struct RegionOutline {
  vision::Region region;
  QVector<QPolygonF> polygons;  ///< 0..1 of the picture; those of a mask have no corners to drag

  bool hasCorners() const { return region.mask.empty(); }
  QString title() const;  ///< "Meadow", "Sky (ignored)"
};

RegionOutline outlineOf(const vision::Region& region);
/// Names of the regions that are not ignored, each once.
QStringList regionNames(const std::vector<vision::Region>& regions);

}  // namespace mpm::gui
