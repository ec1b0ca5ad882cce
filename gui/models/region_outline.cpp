// SPDX-License-Identifier: Apache-2.0
#include "gui/models/region_outline.h"

#include <opencv2/imgproc.hpp>

namespace mpm::gui {

QString RegionOutline::title() const {
  const QString name = QString::fromStdString(region.name);
  return region.ignore ? QCoreApplication::translate("regions", "%1 (ignored)").arg(name) : name;
}

RegionOutline outlineOf(const vision::Region& region) {
  RegionOutline outline{region, {}};
  const auto add = [&](const auto& points) {
    QPolygonF polygon;
    for (const auto& point : points)
      polygon << QPointF((point.x + 0.5) / region.size.width, (point.y + 0.5) / region.size.height);
    outline.polygons.append(polygon);
  };
  for (const auto& polygon : region.polygons) add(polygon);
  if (outline.hasCorners()) return outline;
  std::vector<std::vector<cv::Point>> contours;
  cv::findContours(region.mask.clone(), contours, cv::RETR_LIST, cv::CHAIN_APPROX_SIMPLE);
  for (const auto& contour : contours) add(contour);
  return outline;
}

QStringList regionNames(const std::vector<vision::Region>& regions) {
  QStringList names;
  for (const vision::Region& region : regions)
    if (!region.ignore) names << QString::fromStdString(region.name);
  names.removeDuplicates();
  return names;
}

}  // namespace mpm::gui
