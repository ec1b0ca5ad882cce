// SPDX-License-Identifier: Apache-2.0
#include "cli/estimate_writer.h"

#include <algorithm>

#include "base/number_text.h"
#include "cli/pictures/contact_sheet.h"
#include "mpm/error.hpp"
#include "vision/labels/classes.h"
#include "vision/pictures/depth_pictures.h"
#include "vision/pictures/pictures.h"

namespace mpm::cli {
namespace {

using vision::EstimateFiles;

constexpr const char* kLabels = "_labels.png";

}  // namespace

EstimateWriter::EstimateWriter(const ModelInfo& model, std::optional<Task> task)
    : model_(model),
      task_(task),
      names_(vision::classNames(model)),
      colors_(vision::classColors(model.facts, model.classes)) {}

std::vector<std::string> EstimateWriter::endings() const {
  if (task_ == Task::kDepth) return {EstimateFiles::kDepth, EstimateFiles::kDepthColors};
  if (task_ == Task::kSemantic || !task_) return {kLabels, EstimateFiles::kOverlay};
  return {EstimateFiles::kIds, EstimateFiles::kOverlay, EstimateFiles::kSegments};
}

/// Shares of the image, by class; of segments one each.
std::vector<std::pair<int, double>> EstimateWriter::areas(const Estimate& estimate) const {
  if (estimate.ids.empty()) return vision::classAreas(estimate.labels);
  std::vector<std::pair<int, double>> areas;
  for (const Segment& one : estimate.segments)
    areas.emplace_back(one.label, static_cast<double>(one.area) / static_cast<double>(estimate.ids.total()));
  return areas;
}

std::string EstimateWriter::text(const Estimate& estimate) const {
  if (!estimate.depth.empty()) {
    const DepthRange& range = estimate.depth_range;
    return "depth " + vision::depthText(range.min) + " / " + vision::depthText(range.median) + " / " +
           vision::depthText(range.max) + " " + vision::unitText(model_.facts.depth) + " (min / median / max)";
  }
  auto largest = areas(estimate);
  std::stable_sort(largest.begin(), largest.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  if (!estimate.ids.empty()) text = counted(static_cast<std::int64_t>(largest.size()), "segment");
  for (std::size_t i = 0; i < std::min<std::size_t>(largest.size(), 3); ++i)
    text += (i > 0          ? ", "
             : text.empty() ? ""
                            : ": ") +
            names_[static_cast<std::size_t>(largest[i].first)] + " " + fixed(100 * largest[i].second, 0) + " %";
  return text;
}

Json EstimateWriter::fields(const Estimate& estimate) const {
  if (!estimate.depth.empty()) return {{"depth", vision::depthJson(estimate, model_)}};
  if (!estimate.ids.empty()) return {{"segments", vision::segmentsJson(estimate, model_)}};
  Json classes = Json::object();
  if (estimate.labels.empty()) return {{"classes", classes}};
  for (const std::string& name : names_) classes[name] = 0.0;  // in every line: a table needs no filling in
  for (const auto& [label, area] : areas(estimate)) classes[names_[static_cast<std::size_t>(label)]] = area;
  return {{"classes", classes}};
}

vision::EstimateFiles EstimateWriter::files(const Estimate& estimate, const cv::Mat& image) {
  EstimateFiles files = vision::estimateFiles(estimate, image, model_, colors_);
  if (task_ == Task::kSemantic) files.pictures.emplace(files.pictures.begin(), kLabels, estimate.labels);
  for (const auto& [label, area] : areas(estimate)) drawn_.insert(label);
  return files;
}

cv::Mat EstimateWriter::annotated(const EstimateFiles& files) {
  for (const auto& [ending, picture] : files.pictures)
    if (ending == EstimateFiles::kOverlay || ending == EstimateFiles::kDepthColors) return picture;
  throw Error("--video needs a model of labels, segments or depth");
}

cv::Mat EstimateWriter::legend() const { return drawn_.empty() ? cv::Mat() : legendPicture(model_, drawn_); }

void EstimateWriter::addEarlier(const JsonValue& fields) {
  std::set<std::string> found;
  if (const auto segments = fields.find("segments"))
    for (const JsonValue& segment : segments->list()) found.insert(segment.at("class").text());
  const auto areas = fields.find("classes");
  for (int label = 0; label < static_cast<int>(names_.size()); ++label) {
    const std::string& name = names_[static_cast<std::size_t>(label)];
    const auto area = areas ? areas->find(name) : std::nullopt;
    if (found.contains(name) || (area && area->number(0, 1) > 0)) drawn_.insert(label);
  }
}

}  // namespace mpm::cli
