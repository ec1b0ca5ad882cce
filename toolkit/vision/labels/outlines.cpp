// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/outlines.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>

namespace mpm::vision {
namespace {

void add(const cv::Mat& mask, cv::Point corner, std::vector<std::vector<cv::Point>>& polygons) {
  cv::Mat regions, boxes, centres;
  const int count = cv::connectedComponentsWithStats(mask, regions, boxes, centres, 8, CV_32S);
  for (int region = 1; region < count; ++region) {
    const int* const box = boxes.ptr<int>(region);
    const cv::Rect place(box[cv::CC_STAT_LEFT], box[cv::CC_STAT_TOP], box[cv::CC_STAT_WIDTH], box[cv::CC_STAT_HEIGHT]);
    const cv::Mat alone = regions(place) == region;
    const cv::Point at = corner + place.tl();
    std::vector<std::vector<cv::Point>> contours;
    cv::findContours(alone, contours, cv::RETR_CCOMP, cv::CHAIN_APPROX_SIMPLE, at);
    if (contours.size() == 1) {
      contours[0].resize(std::max<std::size_t>(contours[0].size(), 3), contours[0].back());
      polygons.push_back(std::move(contours[0]));
      continue;
    }
    const cv::Point half = place.width > place.height ? cv::Point(place.width / 2, 0) : cv::Point(0, place.height / 2);
    const cv::Rect first(0, 0, half.x ? half.x : place.width, half.y ? half.y : place.height);
    add(alone(first), at, polygons);
    add(alone(cv::Rect(half, cv::Point(place.width, place.height))), at + half, polygons);
  }
}

}  // namespace

std::vector<std::vector<cv::Point>> outlines(const cv::Mat& mask) {
  std::vector<std::vector<cv::Point>> polygons;
  add(mask, {}, polygons);
  return polygons;
}

}  // namespace mpm::vision
