// SPDX-License-Identifier: Apache-2.0
#include "vision/pictures/estimate_files.h"

#include <algorithm>

#include "vision/labels/classes.h"
#include "vision/pictures/pictures.h"

namespace mpm::vision {

Json segmentsJson(const Estimate& estimate, const ModelInfo& model) {
  const std::vector<std::string> names = classNames(model);
  const std::vector<ClassInfo>& classes = model.facts.classes;
  Json list = Json::array();
  for (const Segment& one : estimate.segments) {
    Json& json = list.emplace_back(Json{{"id", one.id},
                                        {"class", names[one.label]},
                                        {"score", one.score},
                                        {"area", one.area},
                                        {"thing", classes.empty() || classes[one.label].thing}});
    if (one.box) json["box"] = {one.box->x, one.box->y, one.box->br().x, one.box->br().y};
  }
  return list;
}

Json depthJson(const Estimate& estimate, const ModelInfo& model) {
  const DepthRange& range = estimate.depth_range;
  const DepthImage file = depthImage(estimate.depth, model.facts.depth);
  return {{"unit", toString(model.facts.depth)},
          {"min", range.min},
          {"median", range.median},
          {"max", range.max},
          {"offset", file.offset},
          {"step", file.step}};
}

cv::Mat segmentsOverlay(const Estimate& estimate, const cv::Mat& image, const ModelInfo& model,
                        const std::vector<cv::Vec3b>& class_colors, double opacity) {
  std::vector<cv::Vec3b> colors;
  for (const Segment& one : estimate.segments) {
    colors.resize(std::max(colors.size(), static_cast<std::size_t>(one.id)));
    colors[static_cast<std::size_t>(one.id) - 1] = class_colors[one.label];
  }
  const bool filled = estimate.task != Task::kBoxes;  // a filled box would hide what is in it
  return withBoxes(filled ? segmentsPicture(image, estimate.ids, colors, opacity) : image, estimate.segments,
                   classNames(model), class_colors);
}

EstimateFiles estimateFiles(const Estimate& estimate, const cv::Mat& image, const ModelInfo& model,
                            const std::vector<cv::Vec3b>& class_colors, double opacity) {
  EstimateFiles files;
  if (!estimate.depth.empty()) {
    const DepthUnit unit = model.facts.depth;
    const DepthRange& range = estimate.depth_range;
    files.pictures = {{EstimateFiles::kDepth, depthImage(estimate.depth, unit).pixels},
                      {EstimateFiles::kDepthColors, withDepthLegend(depthPicture(estimate.depth, range), range, unit)}};
  } else if (!estimate.ids.empty()) {
    files.pictures = {{EstimateFiles::kIds, estimate.ids},
                      {EstimateFiles::kOverlay, segmentsOverlay(estimate, image, model, class_colors, opacity)}};
    const Json json = {{"task", toString(*estimate.task)}, {"segments", segmentsJson(estimate, model)}};
    files.texts = {{EstimateFiles::kSegments, toLine(json) + "\n"}};
  } else if (!estimate.labels.empty()) {
    files.pictures = {{EstimateFiles::kOverlay, overlayPicture(image, estimate.labels, class_colors, opacity)}};
  }
  return files;
}

}  // namespace mpm::vision
