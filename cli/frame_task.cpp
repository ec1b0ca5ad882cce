// SPDX-License-Identifier: Apache-2.0
#include "cli/frame_task.h"

#include <algorithm>
#include <set>

#include "cli/pictures/contact_sheet.h"
#include "cli/pictures/depth_legend.h"
#include "cli/terminal/program.h"
#include "mpm/convert.hpp"
#include "mpm/depth_estimator.hpp"
#include "mpm/error.hpp"
#include "mpm/panoptic_segmenter.hpp"
#include "vision/classes.h"
#include "vision/depth_pictures.h"
#include "vision/pictures.h"

namespace mpm::cli {
namespace {

class SemanticTask final : public FrameTask {
 public:
  SemanticTask(const std::string& model, const SegmenterOptions& options) : segmenter_(model, options) {}

  const ModelInfo& model() const override { return segmenter_.model(); }
  std::vector<std::string> endings() const override { return {kLabels, kOverlay}; }

  FrameAnswer answer(const cv::Mat& image, bool draw) override {
    const Segmentation result = segmenter_.segment(image);
    FrameAnswer answer{result, result.labels, {}, {{"classes", Json::object()}}, {}};
    if (result.labels.empty()) return answer;
    auto areas = vision::classAreas(result.labels);
    Json& classes = answer.fields["classes"];
    for (const std::string& name : names_) classes[name] = 0.0;  // in every line: a table needs no filling in
    for (const auto& [label, area] : areas) classes[names_[label]] = area;
    if (draw) {
      answer.pictures = {{kLabels, result.labels}, {kOverlay, vision::overlayPicture(image, result.labels, colors_)}};
      for (const auto& [label, area] : areas) drawn_.insert(label);
    }
    std::stable_sort(areas.begin(), areas.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    for (std::size_t i = 0; i < std::min<std::size_t>(areas.size(), 3); ++i)
      answer.text += (i == 0 ? "" : ", ") + names_[areas[i].first] + " " + fixed(100 * areas[i].second, 0) + " %";
    return answer;
  }

  cv::Mat legend() const override { return drawn_.empty() ? cv::Mat() : legendPicture(model(), drawn_); }

  void addEarlier(const Json& line) override {
    for (int label = 0; label < static_cast<int>(names_.size()); ++label)
      if (line.value("/classes"_json_pointer / names_[label], 0.0) > 0) drawn_.insert(label);
  }

 private:
  static constexpr const char *kLabels = "_labels.png", *kOverlay = "_overlay.png";

  Segmenter segmenter_;
  std::vector<std::string> names_ = vision::classNames(model());
  std::vector<cv::Vec3b> colors_ = vision::classColors(model().facts, model().classes);
  std::set<int> drawn_;  // classes
};

class SegmentsTask final : public FrameTask {
 public:
  SegmentsTask(const std::string& model, const PanopticOptions& options) : segmenter_(model, options) {}

  const ModelInfo& model() const override { return segmenter_.model(); }
  std::vector<std::string> endings() const override { return {kIds, kList, kOverlay}; }

  FrameAnswer answer(const cv::Mat& image, bool draw) override {
    const PanopticMap result = segmenter_.segment(image);
    Json segments = Json::array();
    for (const Segment& one : result.segments)
      segments.push_back({{"id", one.id},
                          {"class", names_[one.label]},
                          {"score", one.score},
                          {"area", one.area},
                          {"thing", isThing(one.label)}});
    FrameAnswer answer{result, {}, textOf(result), {{"segments", segments}}, {}};
    if (!draw) return answer;
    std::vector<cv::Vec3b> colors;
    for (const Segment& one : result.segments) {
      colors.push_back(colors_[one.label]);
      drawn_.insert(one.label);
    }
    answer.pictures = {{kIds, result.ids}, {kOverlay, vision::segmentsPicture(image, result.ids, colors)}};
    answer.texts = {{kList, toLine({{"task", toString(segmenter_.task())}, {"segments", segments}}) + "\n"}};
    return answer;
  }

  cv::Mat legend() const override { return drawn_.empty() ? cv::Mat() : legendPicture(model(), drawn_); }

  void addEarlier(const Json& line) override {
    for (const Json& segment : line.value("segments", Json::array()))
      for (int label = 0; label < static_cast<int>(names_.size()); ++label)
        if (segment.value("class", "") == names_[label]) drawn_.insert(label);
  }

 private:
  static constexpr const char *kIds = "_segments.png", *kList = "_segments.json", *kOverlay = "_overlay.png";

  bool isThing(int label) const {
    const std::vector<ClassInfo>& classes = model().facts.classes;
    return classes.empty() || classes[label].thing;
  }

  // "4 segments: road 31 %, car 4 %"
  std::string textOf(const PanopticMap& result) const {
    std::vector<Segment> largest = result.segments;
    std::stable_sort(largest.begin(), largest.end(), [](const auto& a, const auto& b) { return a.area > b.area; });
    std::string text = counted(static_cast<std::int64_t>(largest.size()), "segment");
    for (std::size_t i = 0; i < std::min<std::size_t>(largest.size(), 3); ++i)
      text += (i == 0 ? ": " : ", ") + names_[largest[i].label] + " " +
              fixed(100 * static_cast<double>(largest[i].area) / static_cast<double>(result.ids.total()), 0) + " %";
    return text;
  }

  PanopticSegmenter segmenter_;
  std::vector<std::string> names_ = vision::classNames(model());
  std::vector<cv::Vec3b> colors_ = vision::classColors(model().facts, model().classes);
  std::set<int> drawn_;  // classes
};

class DepthTask final : public FrameTask {
 public:
  DepthTask(const std::string& model, const SegmenterOptions& options)
      : estimator_(model, {options.read, options.threads}) {}

  const ModelInfo& model() const override { return estimator_.model(); }
  std::vector<std::string> endings() const override { return {kDepth, kColors}; }

  FrameAnswer answer(const cv::Mat& image, bool draw) override {
    const DepthMap result = estimator_.estimate(image);
    const DepthUnit unit = model().facts.depth;
    const vision::DepthRange range = vision::depthRange(result.depth);
    const vision::DepthImage file = vision::depthImage(result.depth, unit);
    FrameAnswer answer{result, {}, {}, {}, {}};
    answer.text = "depth " + depthText(range.min) + " / " + depthText(range.median) + " / " + depthText(range.max) +
                  " " + unitText(unit) + " (min / median / max)";
    answer.fields["depth"] = {{"unit", toString(unit)}, {"min", range.min},      {"median", range.median},
                              {"max", range.max},       {"offset", file.offset}, {"step", file.step}};
    if (draw)
      answer.pictures = {{kDepth, file.pixels},
                         {kColors, withDepthLegend(vision::depthPicture(result.depth, range), range, unit)}};
    return answer;
  }

 private:
  static constexpr const char *kDepth = "_depth.png", *kColors = "_depth_colors.png";

  DepthEstimator estimator_;
};

}  // namespace

std::unique_ptr<FrameTask> frameTask(const std::string& model, const SegmenterOptions& options,
                                     const TaskOptions& wanted) {
  const ModelInfo info = readModelInfo(model, options.read.convert);
  const std::optional<Task> task = wanted.task ? wanted.task : info.task;
  if (task == Task::kPanoptic || task == Task::kInstance) {
    PanopticOptions segments{.read = options.read, .threads = options.threads, .task = task};
    segments.min_score = wanted.min_score.value_or(segments.min_score);
    segments.min_overlap = wanted.min_overlap.value_or(segments.min_overlap);
    return std::make_unique<SegmentsTask>(model, segments);
  }
  if (wanted.min_score || wanted.min_overlap)
    throw UsageError("--min-score and --min-overlap are for the tasks panoptic and instance");
  if (task == Task::kDepth) return std::make_unique<DepthTask>(model, options);
  if (wanted.task && !info.givesLabels())
    throw Error("'" + model + "' gives no labels (its head is '" + toString(info.head) + "')");
  return std::make_unique<SemanticTask>(model, options);
}

}  // namespace mpm::cli
